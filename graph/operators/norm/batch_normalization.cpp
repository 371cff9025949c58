// BatchNormalization in training, by the statistics of the batch, and its gradient; and in inference, by running
// statistics.
#include "graph/operators/loops/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gradweave::graph {
namespace {

constexpr std::size_t kBatchPartRows = 1024; ///< a sum over rows is one of parts, each a chain of its own (N14)
constexpr std::size_t kBatchSumWork = 4;     ///< operations of a step, roughly

/// For each channel the sum over all rows: parts of kBatchPartRows rows, each a chain from +0 whose steps are
/// step(element, channel, accumulator), ascending; the parts are added ascending.
template <class A, typename Step>
std::vector<typename A::Value> sum_rows(const Kernel<A> &k, std::size_t rows, std::size_t channels, Step step) {
  const std::size_t parts = (rows + kBatchPartRows - 1) / kBatchPartRows;
  std::vector<typename A::Value> sums(parts * channels);
  k.parallel(parts, kBatchPartRows * channels * kBatchSumWork, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin * kBatchPartRows; row < std::min(rows, end * kBatchPartRows); ++row) {
      auto *acc = sums.data() + row / kBatchPartRows * channels;
      for (std::size_t c = 0; c < channels; ++c)
        acc[c] = step(row * channels + c, c, acc[c]);
    }
  });
  for (std::size_t p = 1; p < parts; ++p)
    for (std::size_t c = 0; c < channels; ++c)
      sums[c] = A::add(sums[c], sums[p * channels + c]);
  sums.resize(channels);
  return sums;
}

/// f(element, channel) for all elements of an activation.
template <class A, typename F> void for_channel_elements(const Kernel<A> &k, const Shape &shape, F f) {
  const std::size_t channels = shape.cols();
  k.parallel(shape.rows(), channels * kBatchSumWork, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      for (std::size_t c = 0; c < channels; ++c)
        f(row * channels + c, c);
  });
}

template <class V> V one_over_rows(std::size_t count) { return V{1} / static_cast<V>(count); }

struct BatchNormalizationRun {
  enum Input { kX, kGamma, kBeta, kRunningMean, kRunningVariance };
  enum Output { kY, kMean, kRstd, kNextMean, kNextVariance };

  template <class A> static void run(Kernel<A> &k) {
    using V = typename A::Value;
    const std::size_t rows = k.in_shape(kX).rows(), channels = k.in_shape(kX).cols();
    const V *x = k.in(kX);
    V *mean = k.out(kMean), *rstd = k.out(kRstd);
    const std::vector<V> sums =
        sum_rows(k, rows, channels, [x](std::size_t i, std::size_t, V acc) { return A::add(acc, x[i]); });
    for (std::size_t c = 0; c < channels; ++c)
      mean[c] = A::mul(sums[c], one_over_rows<V>(rows));
    const std::vector<V> squares = sum_rows(k, rows, channels, [x, mean](std::size_t i, std::size_t c, V acc) {
      const V d = A::sub(x[i], mean[c]);
      return A::fma(d, d, acc);
    });
    const V epsilon = real_attribute(k, "epsilon");
    for (std::size_t c = 0; c < channels; ++c)
      rstd[c] = A::rsqrt(A::add(A::mul(squares[c], one_over_rows<V>(rows)), epsilon));
    const V *gamma = k.in(kGamma), *beta = k.in(kBeta);
    V *y = k.out(kY);
    for_channel_elements(k, k.in_shape(kX), [=](std::size_t i, std::size_t c) {
      y[i] = A::fma(A::mul(A::sub(x[i], mean[c]), rstd[c]), gamma[c], beta[c]);
    });
    update(k, rows, squares);
  }

  /// Running averages. One row has no unbiased variance; it counts as two.
  template <class A> static void update(Kernel<A> &k, std::size_t rows, const std::vector<typename A::Value> &squares) {
    using V = typename A::Value;
    const V share = real_attribute(k, "momentum"), rest = A::sub(V{1}, share);
    const V unbiased = one_over_rows<V>(std::max<std::size_t>(rows - 1, 1));
    for (std::size_t c = 0; c < squares.size(); ++c) {
      k.out(kNextMean)[c] = A::fma(share, k.out(kMean)[c], A::mul(rest, k.in(kRunningMean)[c]));
      k.out(kNextVariance)[c] = A::fma(share, A::mul(squares[c], unbiased), A::mul(rest, k.in(kRunningVariance)[c]));
    }
  }
};

struct BatchNormalizationGradientRun {
  enum Input { kDy, kX, kGamma, kMean, kRstd };
  enum Output { kDx, kDgamma, kDbeta };

  template <class A> static void run(Kernel<A> &k) {
    using V = typename A::Value;
    const std::size_t rows = k.in_shape(kX).rows(), channels = k.in_shape(kX).cols();
    const V *dy = k.in(kDy), *x = k.in(kX), *gamma = k.in(kGamma), *mean = k.in(kMean), *rstd = k.in(kRstd);
    const auto normal = [=](std::size_t i, std::size_t c) { return A::mul(A::sub(x[i], mean[c]), rstd[c]); };
    const std::vector<V> dbeta =
        sum_rows(k, rows, channels, [dy](std::size_t i, std::size_t, V acc) { return A::add(acc, dy[i]); });
    const std::vector<V> dgamma = sum_rows(k, rows, channels, [dy, normal](std::size_t i, std::size_t c, V acc) {
      return A::fma(dy[i], normal(i, c), acc);
    });
    std::copy(dgamma.begin(), dgamma.end(), k.out(kDgamma));
    std::copy(dbeta.begin(), dbeta.end(), k.out(kDbeta));
    std::vector<V> slope(channels), offset(channels), scale(channels);
    for (std::size_t c = 0; c < channels; ++c) {
      slope[c] = A::mul(dgamma[c], one_over_rows<V>(rows));
      offset[c] = A::mul(dbeta[c], one_over_rows<V>(rows));
      scale[c] = A::mul(gamma[c], rstd[c]);
    }
    V *dx = k.out(kDx);
    for_channel_elements(k, k.in_shape(kX), [&slope, &offset, &scale, dx, dy, normal](std::size_t i, std::size_t c) {
      dx[i] = A::mul(A::fma(-normal(i, c), slope[c], A::sub(dy[i], offset[c])), scale[c]);
    });
  }
};

struct BatchNormalizationInferenceRun {
  enum Input { kX, kGamma, kBeta, kMean, kVariance };

  template <class A> static void run(Kernel<A> &k) {
    using V = typename A::Value;
    const V *x = k.in(kX), *gamma = k.in(kGamma), *beta = k.in(kBeta), *mean = k.in(kMean);
    const std::size_t channels = k.in_shape(kX).cols();
    const V epsilon = real_attribute(k, "epsilon");
    std::vector<V> rstd(channels);
    for (std::size_t c = 0; c < channels; ++c)
      rstd[c] = A::rsqrt(A::add(k.in(kVariance)[c], epsilon));
    V *y = k.out(0);
    for_channel_elements(k, k.in_shape(kX), [&rstd, x, gamma, beta, mean, y](std::size_t i, std::size_t c) {
      y[i] = A::fma(A::mul(A::sub(x[i], mean[c]), rstd[c]), gamma[c], beta[c]);
    });
  }
};

/// Inputs [first, last) must have an element for each channel of `x`.
void require_channels(const Inference &op, const Shape &x, std::size_t first, std::size_t last) {
  static constexpr const char *kNames[] = {"", "gamma", "beta", "mean", "variance"};
  op.require(x.rank() >= 2, "x is " + x.text() + "; it needs rows and channels");
  for (std::size_t i = first; i < last; ++i)
    op.require(op.shape(i) == Shape{x.cols()},
               fmt::format("x is {} and {} {}; it must be [{}], an element for each channel", x.text(), kNames[i],
                           op.shape(i).text(), x.cols()));
}

void check_batch_epsilon(const Inference &op) {
  const double epsilon = op.attributes().real("epsilon");
  op.require(epsilon >= 0 && std::isfinite(epsilon),
             fmt::format("attribute 'epsilon' = {} must be at least 0", to_string(Attribute(epsilon))));
}

void infer_batch_normalization(Inference &op) {
  const Shape &x = op.shape(0);
  require_channels(op, x, 1, 5);
  check_batch_epsilon(op);
  const double momentum = op.attributes().real("momentum");
  op.require(momentum >= 0 && momentum <= 1,
             fmt::format("attribute 'momentum' = {} must be from 0 to 1", to_string(Attribute(momentum))));
  op.set(0, x);
  for (std::size_t o = 1; o < 5; ++o)
    op.set(o, {x.cols()});
}

void infer_batch_normalization_inference(Inference &op) {
  require_channels(op, op.shape(0), 1, 5);
  check_batch_epsilon(op);
  op.set(0, op.shape(0));
}

void infer_batch_normalization_gradient(Inference &op) {
  const Shape &x = op.shape(1);
  op.require(op.shape(0) == x, fmt::format("dy is {} and x {}; they must be equal", op.shape(0).text(), x.text()));
  op.require(x.rank() >= 2, "x is " + x.text() + "; it needs rows and channels");
  for (std::size_t i = 2; i < 5; ++i)
    op.require(
        op.shape(i) == Shape{x.cols()},
        fmt::format("input {} is {}; it must be [{}], an element for each channel", i, op.shape(i).text(), x.cols()));
  op.set(0, x);
  op.set(1, {x.cols()});
  op.set(2, {x.cols()});
}

void derive_batch_normalization(Derivation &d) {
  for (std::size_t o = 1; o < 5; ++o)
    if (d.gradient(o) != kNone) d.build.fail("statistics of a batch have no derivative here; take them from no loss");
  const std::vector<TensorId> gradients = d.build.add_all(
      "BatchNormalizationGradient", {d.gradient(0), d.input(0), d.input(1), d.output(1), d.output(2)}, {}, d.name(0));
  for (std::size_t i = 0; i < 3; ++i)
    if (d.wants(i)) d.give(i, gradients[i]);
}

/// A chain of elements' operations by the rows of x.
double batch_normalization_operations(const OpView &op) {
  return 8.0 * static_cast<double>(op.output(0).shape.elements());
}

/// h = (x - mean) / sqrt(variance + epsilon), which the running averages do not depend on.
void derive_batch_normalization_inference(Derivation &d) {
  Builder &build = d.build;
  const TensorId epsilon =
      build.constant(build.fresh("epsilon"), {}, {d.attributes().real("epsilon")}, ElementType::kFp32);
  const auto fp32 = [&build](TensorId tensor) {
    build.fix_type(tensor, ElementType::kFp32);
    return tensor;
  };
  const TensorId variance = fp32(build.add("Add", {d.input(4), epsilon}));
  const TensorId rstd = fp32(build.add("Reciprocal", {fp32(build.add("Sqrt", {variance}))}));
  if (d.wants(0))
    d.give(0, build.add("Mul", {d.gradient(), fp32(build.add("Mul", {d.input(1), rstd}))}, {}, d.name(0)));
  if (d.wants(1)) {
    const TensorId h = fp32(build.add("Mul", {fp32(build.add("Sub", {d.input(0), d.input(3)})), rstd}));
    const TensorId product = fp32(build.add("Mul", {d.gradient(), h}));
    d.give(1, build.add("BiasGradient", {product}, {}, d.name(1)));
  }
  if (d.wants(2)) d.give(2, build.add("BiasGradient", {d.gradient()}, {}, d.name(2)));
}

const AttributeSpec kBatchEpsilon{"epsilon", AttributeKind::kReal, 1e-5, "added to the variance"};

Operator batch_normalization_entry() {
  Operator op;
  op.name = "BatchNormalization";
  op.summary =
      "each channel less its mean over the batch, over its standard deviation, times gamma, plus beta; and the "
      "next running mean and variance";
  op.inputs = {{"x"},
               {"gamma", Takes::kFp32},
               {"beta", Takes::kFp32},
               {"running_mean", Takes::kFp32},
               {"running_variance", Takes::kFp32}};
  op.outputs = {{"y", Gives::kSum},
                {"mean", Gives::kFp32},
                {"rstd", Gives::kFp32},
                {"next_mean", Gives::kFp32},
                {"next_variance", Gives::kFp32}};
  op.attributes = {kBatchEpsilon,
                   {"momentum", AttributeKind::kReal, 0.1, "the batch's share in the next running mean and variance"}};
  op.infer = infer_batch_normalization;
  op.derive = derive_batch_normalization;
  op.operations = batch_normalization_operations;
  op.lower = walks<Walk::kColumns>;
  executes<BatchNormalizationRun>(op);
  return op;
}

} // namespace

std::vector<Operator> batch_normalization_operators() {
  Operator gradient;
  gradient.name = "BatchNormalizationGradient";
  gradient.summary = "the gradients of x, gamma and beta";
  gradient.inputs = {{"dy"}, {"x"}, {"gamma", Takes::kFp32}, {"mean", Takes::kFp32}, {"rstd", Takes::kFp32}};
  gradient.outputs = {{"dx", Gives::kSum}, {"dgamma", Gives::kFp32}, {"dbeta", Gives::kFp32}};
  gradient.infer = infer_batch_normalization_gradient;
  gradient.operations = [](const OpView &op) { return 10.0 * static_cast<double>(op.output(0).shape.elements()); };
  gradient.lower = walks<Walk::kColumns>;
  executes<BatchNormalizationGradientRun>(gradient);

  Operator inference;
  inference.name = "BatchNormalizationInference";
  inference.summary = "the same by running mean and variance";
  inference.inputs = {
      {"x"}, {"gamma", Takes::kFp32}, {"beta", Takes::kFp32}, {"mean", Takes::kFp32}, {"variance", Takes::kFp32}};
  inference.outputs = {{"y", Gives::kSum}};
  inference.attributes = {kBatchEpsilon};
  inference.infer = infer_batch_normalization_inference;
  inference.derive = derive_batch_normalization_inference;
  inference.operations = operations_per_element<4>;
  executes<BatchNormalizationInferenceRun>(inference);
  return {batch_normalization_entry(), gradient, inference};
}

} // namespace gradweave::graph
