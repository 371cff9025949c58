// BatchNormalization in training, by the statistics of the batch, and its gradient; and in inference, by running
// statistics.
#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gradweave::graph {
namespace {

constexpr std::size_t kBatchPartRows = 1024; ///< a sum over rows is one of parts, each a chain of its own (N14)
constexpr std::size_t kBatchSumWork = 4;     ///< operations of a step, roughly

std::size_t batch_parts(std::size_t rows) { return (rows + kBatchPartRows - 1) / kBatchPartRows; }

/// 1 / rows, rounded once.
template <class A> typename A::Value one_over_rows(std::size_t count) {
  return number<A>(1.0 / static_cast<double>(count));
}

/// Channels as lanes, rows as steps. Operands: matrices, then vectors of channels.
LineWalk channel_walk(std::size_t rows, std::size_t channels, const std::vector<WalkValue> &matrices,
                      const std::vector<WalkValue> &vectors) {
  LineWalk walk = columns_as_lanes(rows, channels);
  for (const WalkValue &matrix : matrices)
    walk.in.push_back(strided(matrix, 1, channels));
  for (const WalkValue &vector : vectors)
    walk.in.push_back(by_lane(vector));
  return walk;
}

/// For each part of the rows and each channel text(lines), whose results are sums of the part. `walk` is of all rows.
template <class A, class Text> void walk_parts(Kernel<A> &k, const LineWalk &walk, Text text) {
  const std::size_t rows = walk.steps[0], channels = walk.lanes[0], whole = rows / kBatchPartRows;
  const auto part = [&](std::size_t first, std::size_t parts, std::size_t of) {
    LineWalk some{{parts, channels}, {of}, walk.in, walk.out, false};
    for (WalkOperand &operand : some.in) {
      operand.first += first * kBatchPartRows * operand.steps[0];
      operand.lanes = {operand.steps[0] * kBatchPartRows, operand.lanes[0]};
    }
    for (WalkOperand &sum : some.out) {
      sum.first += first * channels;
      sum.lanes = {channels, sum.lanes[0]};
    }
    walk_lines(k, some, kBatchSumWork, text);
  };
  if (whole > 0) part(0, whole, kBatchPartRows);
  if (rows % kBatchPartRows != 0) part(whole, 1, rows % kBatchPartRows);
}

/// Channels as lanes, parts as steps. The text adds the parts' sums, ascending: a chain that begins with -0 has the
/// bits of one that begins with the first part.
LineWalk part_sums(std::size_t rows, std::size_t channels, const std::vector<WalkValue> &sums,
                   const std::vector<WalkValue> &vectors, const std::vector<WalkValue> &results) {
  LineWalk walk = channel_walk(batch_parts(rows), channels, sums, vectors);
  for (const WalkValue &result : results)
    walk.out.push_back(by_lane(result));
  return walk;
}

struct BatchNormalizationRun {
  enum Input { kX, kGamma, kBeta, kRunningMean, kRunningVariance };
  enum Output { kY, kMean, kRstd, kNextMean, kNextVariance };

  template <class A> static void run(Kernel<A> &k) {
    const std::size_t rows = k.in_shape(kX).rows(), channels = k.in_shape(kX).cols();
    const WalkValue sums = k.temporary(batch_parts(rows) * channels);
    find_mean(k, rows, channels, sums);
    LineWalk walk = channel_walk(rows, channels, {input(kX)}, {output(kMean)});
    walk.out = {by_lane(sums)};
    walk_parts(k, walk, [](auto &lines) {
      auto sum = lines.variable(0);
      lines.loop([&](const auto &at) {
        const auto away = A::sub(at.in(0), at.in(1));
        sum(at) = A::fma(away, away, sum(at));
      });
      lines.once([&](const auto &at) { at.out(0, sum(at)); });
    });
    find_deviation(k, rows, channels, sums);
    walk = channel_walk(rows, channels, {input(kX)}, {output(kMean), output(kRstd), input(kGamma), input(kBeta)});
    walk.out = {strided(output(kY), 1, channels)};
    walk.elementwise = true;
    walk_lines(k, walk, kBatchSumWork, [](auto &lines) {
      lines.loop(
          [](const auto &at) { at.out(0, A::fma(A::mul(A::sub(at.in(0), at.in(1)), at.in(2)), at.in(3), at.in(4))); });
    });
  }

private:
  template <class A>
  static void find_mean(Kernel<A> &k, std::size_t rows, std::size_t channels, const WalkValue &sums) {
    LineWalk walk = channel_walk(rows, channels, {input(kX)}, {});
    walk.out = {by_lane(sums)};
    walk_parts(k, walk, [](auto &lines) {
      auto sum = lines.variable(0);
      lines.loop([&](const auto &at) { sum(at) = A::add(sum(at), at.in(0)); });
      lines.once([&](const auto &at) { at.out(0, sum(at)); });
    });
    // The next running mean, too.
    const auto one_over = one_over_rows<A>(rows), share = real_attribute(k, "momentum");
    const auto rest = A::sub(number<A>(1), share);
    walk = part_sums(rows, channels, {sums}, {input(kRunningMean)}, {output(kMean), output(kNextMean)});
    walk_lines(k, walk, kBatchSumWork, [=](auto &lines) {
      auto sum = lines.variable(-0.0);
      lines.loop([&](const auto &at) { sum(at) = A::add(sum(at), at.in(0)); });
      lines.once([&](const auto &at) {
        sum(at) = A::mul(sum(at), one_over);
        at.out(0, sum(at));
        at.out(1, A::fma(share, sum(at), A::mul(rest, at.in(1))));
      });
    });
  }

  /// And the next running variance. One row has no unbiased variance; it counts as two.
  template <class A>
  static void find_deviation(Kernel<A> &k, std::size_t rows, std::size_t channels, const WalkValue &sums) {
    const auto one_over = one_over_rows<A>(rows), unbiased = one_over_rows<A>(std::max<std::size_t>(rows - 1, 1));
    const auto share = real_attribute(k, "momentum"), epsilon = real_attribute(k, "epsilon");
    const auto rest = A::sub(number<A>(1), share);
    const LineWalk walk =
        part_sums(rows, channels, {sums}, {input(kRunningVariance)}, {output(kRstd), output(kNextVariance)});
    walk_lines(k, walk, kBatchSumWork, [=](auto &lines) {
      auto squares = lines.variable(-0.0);
      lines.loop([&](const auto &at) { squares(at) = A::add(squares(at), at.in(0)); });
      lines.once([&](const auto &at) {
        at.out(0, A::rsqrt(A::add(A::mul(squares(at), one_over), epsilon)));
        at.out(1, A::fma(share, A::mul(squares(at), unbiased), A::mul(rest, at.in(1))));
      });
    });
  }
};

struct BatchNormalizationGradientRun {
  enum Input { kDy, kX, kGamma, kMean, kRstd };
  enum Output { kDx, kDgamma, kDbeta };

  /// h = (x - mean) rstd is computed for the sums, and again for dx: in a walk before it, as dx had more operands than
  /// a walk may have.
  template <class A> static void run(Kernel<A> &k) {
    const std::size_t rows = k.in_shape(kX).rows(), channels = k.in_shape(kX).cols();
    const std::size_t sums = batch_parts(rows) * channels;
    const WalkValue normal = k.temporary(rows * channels), dgamma = k.temporary(sums), dbeta = k.temporary(sums);
    LineWalk walk = channel_walk(rows, channels, {input(kDy), input(kX)}, {input(kMean), input(kRstd)});
    walk.out = {by_lane(dbeta), by_lane(dgamma)};
    walk_parts(k, walk, [](auto &lines) {
      auto of_dbeta = lines.variable(0), of_dgamma = lines.variable(0);
      lines.loop([&](const auto &at) {
        of_dbeta(at) = A::add(of_dbeta(at), at.in(0));
        of_dgamma(at) = A::fma(at.in(0), A::mul(A::sub(at.in(1), at.in(2)), at.in(3)), of_dgamma(at));
      });
      lines.once([&](const auto &at) {
        at.out(0, of_dbeta(at));
        at.out(1, of_dgamma(at));
      });
    });
    const WalkValue slope = k.temporary(channels), offset = k.temporary(channels), scale = k.temporary(channels);
    add_parts(k, rows, dgamma, kDgamma, slope);
    add_parts(k, rows, dbeta, kDbeta, offset);
    walk = elements_walk(channels, {input(kGamma), input(kRstd)}, {scale});
    walk_lines(k, walk, 1,
               [](auto &lines) { lines.loop([](const auto &at) { at.out(0, A::mul(at.in(0), at.in(1))); }); });
    walk = channel_walk(rows, channels, {input(kX)}, {input(kMean), input(kRstd)});
    walk.out = {strided(normal, 1, channels)};
    walk.elementwise = true;
    walk_lines(k, walk, kBatchSumWork, [](auto &lines) {
      lines.loop([](const auto &at) { at.out(0, A::mul(A::sub(at.in(0), at.in(1)), at.in(2))); });
    });
    walk = channel_walk(rows, channels, {input(kDy), normal}, {slope, offset, scale});
    walk.out = {strided(output(kDx), 1, channels)};
    walk.elementwise = true;
    walk_lines(k, walk, kBatchSumWork, [](auto &lines) {
      lines.loop(
          [](const auto &at) { at.out(0, A::mul(A::fma(-at.in(1), at.in(2), A::sub(at.in(0), at.in(3))), at.in(4))); });
    });
  }

private:
  /// The gradient of gamma or beta, and the mean of its terms.
  template <class A>
  static void add_parts(Kernel<A> &k, std::size_t rows, const WalkValue &sums, std::size_t result,
                        const WalkValue &mean) {
    const auto one_over = one_over_rows<A>(rows);
    const LineWalk walk = part_sums(rows, k.in_shape(kX).cols(), {sums}, {}, {output(result), mean});
    walk_lines(k, walk, 1, [=](auto &lines) {
      auto sum = lines.variable(-0.0);
      lines.loop([&](const auto &at) { sum(at) = A::add(sum(at), at.in(0)); });
      lines.once([&](const auto &at) {
        at.out(0, sum(at));
        at.out(1, A::mul(sum(at), one_over));
      });
    });
  }
};

struct BatchNormalizationInferenceRun {
  enum Input { kX, kGamma, kBeta, kMean, kVariance };

  template <class A> static void run(Kernel<A> &k) {
    const std::size_t rows = k.in_shape(kX).rows(), channels = k.in_shape(kX).cols();
    const auto epsilon = real_attribute(k, "epsilon");
    const WalkValue rstd = k.temporary(channels);
    LineWalk walk = elements_walk(channels, {input(kVariance)}, {rstd});
    walk_lines(k, walk, 24, [epsilon](auto &lines) {
      lines.loop([epsilon](const auto &at) { at.out(0, A::rsqrt(A::add(at.in(0), epsilon))); });
    });
    walk = channel_walk(rows, channels, {input(kX)}, {input(kMean), rstd, input(kGamma), input(kBeta)});
    walk.out = {strided(output(0), 1, channels)};
    walk.elementwise = true;
    walk_lines(k, walk, kBatchSumWork, [](auto &lines) {
      lines.loop(
          [](const auto &at) { at.out(0, A::fma(A::mul(A::sub(at.in(0), at.in(1)), at.in(2)), at.in(3), at.in(4))); });
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
