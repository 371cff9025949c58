// RMSNormalization: rows brought to a mean square of 1, then scaled by column; B. Zhang, R. Sennrich, "Root mean square
// layer normalization". And its gradients.
#include "graph/operators/norm/normalization.hpp"

namespace gradweave::graph {
namespace {

struct RmsNormalizationRun {
  template <class A> static void run(Kernel<A> &k) {
    const Shape &x = k.in_shape(0);
    const auto share = share_of_columns<A>(x), epsilon = real_attribute(k, "epsilon");
    LineWalk walk = normalized_rows(x);
    walk.in = {of_rows(x, input(0)), by_step(input(1))};
    walk.out = {of_rows(x, output(0))};
    const bool gives_rstd = k.has_out(1);
    if (gives_rstd) walk.out.push_back(by_lane(output(1)));
    walk_lines(k, walk, 8, [=](auto &lines) {
      auto rstd = lines.variable(0);
      lines.loop([&](const auto &at) { rstd(at) = A::fma(at.in(0), at.in(0), rstd(at)); });
      lines.once([&](const auto &at) {
        rstd(at) = A::rsqrt(A::add(A::mul(rstd(at), share), epsilon));
        if (gives_rstd) at.out(1, rstd(at));
      });
      lines.loop([&](const auto &at) { at.out(0, A::mul(A::mul(at.in(0), rstd(at)), at.in(1))); });
    });
  }
};

struct RmsNormalizationGradientRun {
  enum Input { kDy, kX, kRstd, kGamma };

  template <class A> static void run(Kernel<A> &k) {
    const Shape &x = k.in_shape(0);
    const auto share = share_of_columns<A>(x);
    LineWalk walk = normalized_rows(x);
    walk.in = {of_rows(x, input(kDy)), of_rows(x, input(kX)), by_lane(input(kRstd)), by_step(input(kGamma))};
    walk.out = {of_rows(x, output(0))};
    walk_lines(k, walk, 10, [=](auto &lines) {
      const auto scaled = [](const auto &at) { return A::mul(at.in(kDy), at.in(kGamma)); };
      const auto normal = [](const auto &at) { return A::mul(at.in(kX), at.in(kRstd)); };
      auto of_slope = lines.variable(0);
      lines.loop([&](const auto &at) { of_slope(at) = A::fma(scaled(at), normal(at), of_slope(at)); });
      lines.once([&](const auto &at) { of_slope(at) = A::mul(of_slope(at), share); });
      lines.loop(
          [&](const auto &at) { at.out(0, A::mul(A::fma(-normal(at), of_slope(at), scaled(at)), at.in(kRstd))); });
    });
  }
};

struct RmsNormalizationScaleGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const std::size_t rows = k.in_shape(0).rows(), cols = k.in_shape(0).cols();
    LineWalk walk = columns_as_lanes(rows, cols);
    walk.in = {strided(input(0), 1, cols), strided(input(1), 1, cols), by_step(input(2))};
    walk.out = {by_lane(output(0))};
    walk_lines(k, walk, 3, [](auto &lines) {
      auto sum = lines.variable(0);
      lines.loop([&](const auto &at) { sum(at) = A::fma(at.in(0), A::mul(at.in(1), at.in(2)), sum(at)); });
      lines.once([&](const auto &at) { at.out(0, sum(at)); });
    });
  }
};

void infer_rms_normalization(Inference &op) {
  check_normalized(op, 0, 1);
  op.set(0, op.shape(0));
  op.set(1, statistics_of(op.shape(0)));
}

void infer_rms_normalization_gradient(Inference &op) {
  check_gradient_rows(op, {2});
  check_normalized(op, 1, 3);
  op.set(0, op.shape(1));
}

void infer_rms_normalization_scale_gradient(Inference &op) {
  check_gradient_rows(op, {2});
  op.set(0, {op.shape(1).cols()});
}

void derive_rms_normalization(Derivation &d) {
  refuse_gradients_of_statistics(d);
  const TensorId dy = d.gradient(), x = d.input(0), rstd = d.output(1);
  if (d.wants(0)) d.give(0, d.build.add("RMSNormalizationGradient", {dy, x, rstd, d.input(1)}, {}, d.name(0)));
  if (d.wants(1)) d.give(1, d.build.add("RMSNormalizationScaleGradient", {dy, x, rstd}, {}, d.name(1)));
}

} // namespace

std::vector<Operator> rms_normalization_operators() {
  Operator norm;
  norm.name = "RMSNormalization";
  norm.summary = "x / sqrt(mean of x^2 + epsilon) gamma, the mean of the last dimension";
  norm.inputs = {{"x", Takes::kSum}, {"gamma", Takes::kFp32}};
  norm.outputs = {{"y", Gives::kSum}, {"rstd", Gives::kFp32, true}};
  norm.attributes = {epsilon_attribute()};
  norm.infer = infer_rms_normalization;
  norm.derive = derive_rms_normalization;
  norm.operations = operations_per_element<3>;
  norm.lower = walks<Walk::kRows>;
  executes<RmsNormalizationRun>(norm);

  Operator gradient;
  gradient.name = "RMSNormalizationGradient";
  gradient.summary = "the gradient of x";
  gradient.inputs = {{"dy"}, {"x", Takes::kSum}, {"rstd", Takes::kFp32}, {"gamma", Takes::kFp32}};
  gradient.outputs = {{"dx", Gives::kSum}};
  gradient.infer = infer_rms_normalization_gradient;
  gradient.operations = operations_per_element<5>;
  gradient.lower = walks<Walk::kRows>;
  executes<RmsNormalizationGradientRun>(gradient);

  Operator scale;
  scale.name = "RMSNormalizationScaleGradient";
  scale.summary = "the gradient of gamma: sums of the columns of dy x rstd, rows ascending";
  scale.inputs = {{"dy"}, {"x", Takes::kSum}, {"rstd", Takes::kFp32}};
  scale.outputs = {{"dgamma", Gives::kFp32}};
  scale.infer = infer_rms_normalization_scale_gradient;
  scale.operations = operations_per_input<2>;
  scale.lower = walks<Walk::kColumns>;
  executes<RmsNormalizationScaleGradientRun>(scale);
  return {norm, gradient, scale};
}

} // namespace gradweave::graph
