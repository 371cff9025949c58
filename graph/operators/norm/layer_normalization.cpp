// LayerNormalization: rows brought to mean 0 and variance 1, then scaled and shifted by column; J. Ba, J. Kiros,
// G. Hinton, "Layer normalization". Variance in two passes. And its gradients.
#include "graph/operators/norm/normalization.hpp"

namespace gradweave::graph {
namespace {

struct LayerNormalizationRun {
  template <class A> static void run(Kernel<A> &k) {
    const Shape &x = k.in_shape(0);
    const auto share = share_of_columns<A>(x), epsilon = real_attribute(k, "epsilon");
    LineWalk walk = normalized_rows(x);
    walk.in = {of_rows(x, input(0)), by_step(input(1)), by_step(input(2))};
    walk.out = {of_rows(x, output(0))};
    const bool gives_mean = k.has_out(1), gives_rstd = k.has_out(2);
    if (gives_mean) walk.out.push_back(by_lane(output(1)));
    if (gives_rstd) walk.out.push_back(by_lane(output(2)));
    walk_lines(k, walk, 12, [=](auto &lines) {
      auto mean = lines.variable(0), rstd = lines.variable(0);
      lines.loop([&](const auto &at) { mean(at) = A::add(mean(at), at.in(0)); });
      lines.once([&](const auto &at) { mean(at) = A::mul(mean(at), share); });
      lines.loop([&](const auto &at) {
        const auto away = A::sub(at.in(0), mean(at));
        rstd(at) = A::fma(away, away, rstd(at));
      });
      lines.once([&](const auto &at) {
        rstd(at) = A::rsqrt(A::add(A::mul(rstd(at), share), epsilon));
        if (gives_mean) at.out(1, mean(at));
        if (gives_rstd) at.out(gives_mean ? 2 : 1, rstd(at));
      });
      lines.loop(
          [&](const auto &at) { at.out(0, A::fma(A::mul(A::sub(at.in(0), mean(at)), rstd(at)), at.in(1), at.in(2))); });
    });
  }
};

struct LayerNormalizationGradientRun {
  enum Input { kDy, kX, kMean, kRstd, kGamma };

  template <class A> static void run(Kernel<A> &k) {
    const Shape &x = k.in_shape(0);
    const auto share = share_of_columns<A>(x);
    LineWalk walk = normalized_rows(x);
    walk.in = {of_rows(x, input(kDy)), of_rows(x, input(kX)), by_lane(input(kMean)), by_lane(input(kRstd)),
               by_step(input(kGamma))};
    walk.out = {of_rows(x, output(0))};
    walk_lines(k, walk, 14, [=](auto &lines) {
      const auto scaled = [](const auto &at) { return A::mul(at.in(kDy), at.in(kGamma)); };
      const auto normal = [](const auto &at) { return A::mul(A::sub(at.in(kX), at.in(kMean)), at.in(kRstd)); };
      auto of_mean = lines.variable(0), of_slope = lines.variable(0);
      lines.loop([&](const auto &at) {
        const auto gradient = scaled(at);
        of_mean(at) = A::add(of_mean(at), gradient);
        of_slope(at) = A::fma(gradient, normal(at), of_slope(at));
      });
      lines.once([&](const auto &at) {
        of_mean(at) = A::mul(of_mean(at), share);
        of_slope(at) = A::mul(of_slope(at), share);
      });
      lines.loop([&](const auto &at) {
        at.out(0, A::mul(A::fma(-normal(at), of_slope(at), A::sub(scaled(at), of_mean(at))), at.in(kRstd)));
      });
    });
  }
};

struct LayerNormalizationScaleGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const std::size_t rows = k.in_shape(0).rows(), cols = k.in_shape(0).cols();
    LineWalk walk = columns_as_lanes(rows, cols);
    walk.in = {strided(input(0), 1, cols), strided(input(1), 1, cols), by_step(input(2)), by_step(input(3))};
    walk.out = {by_lane(output(0))};
    walk_lines(k, walk, 3, [](auto &lines) {
      auto sum = lines.variable(0);
      lines.loop(
          [&](const auto &at) { sum(at) = A::fma(at.in(0), A::mul(A::sub(at.in(1), at.in(2)), at.in(3)), sum(at)); });
      lines.once([&](const auto &at) { at.out(0, sum(at)); });
    });
  }
};

void infer_layer_normalization(Inference &op) {
  check_normalized(op, 0, 1);
  check_normalized(op, 0, 2);
  op.set(0, op.shape(0));
  op.set(1, statistics_of(op.shape(0)));
  op.set(2, statistics_of(op.shape(0)));
}

void infer_layer_normalization_gradient(Inference &op) {
  check_gradient_rows(op, {2, 3});
  check_normalized(op, 1, 4);
  op.set(0, op.shape(1));
}

void infer_layer_normalization_scale_gradient(Inference &op) {
  check_gradient_rows(op, {2, 3});
  op.set(0, {op.shape(1).cols()});
}

void derive_layer_normalization(Derivation &d) {
  refuse_gradients_of_statistics(d);
  const TensorId dy = d.gradient(), x = d.input(0), mean = d.output(1), rstd = d.output(2);
  if (d.wants(0)) d.give(0, d.build.add("LayerNormalizationGradient", {dy, x, mean, rstd, d.input(1)}, {}, d.name(0)));
  if (d.wants(1)) d.give(1, d.build.add("LayerNormalizationScaleGradient", {dy, x, mean, rstd}, {}, d.name(1)));
  if (d.wants(2)) d.give(2, d.build.add("BiasGradient", {dy}, {}, d.name(2)));
}

} // namespace

std::vector<Operator> layer_normalization_operators() {
  Operator norm;
  norm.name = "LayerNormalization";
  norm.summary = "(x - mean) / sqrt(variance + epsilon) gamma + beta, mean and variance of the last dimension";
  norm.inputs = {{"x", Takes::kSum}, {"gamma", Takes::kFp32}, {"beta", Takes::kFp32}};
  norm.outputs = {{"y", Gives::kSum}, {"mean", Gives::kFp32, true}, {"rstd", Gives::kFp32, true}};
  norm.attributes = {epsilon_attribute()};
  norm.infer = infer_layer_normalization;
  norm.derive = derive_layer_normalization;
  norm.operations = operations_per_element<5>;
  norm.lower = walks<Walk::kRows>;
  executes<LayerNormalizationRun>(norm);

  Operator gradient;
  gradient.name = "LayerNormalizationGradient";
  gradient.summary = "the gradient of x";
  gradient.inputs = {
      {"dy"}, {"x", Takes::kSum}, {"mean", Takes::kFp32}, {"rstd", Takes::kFp32}, {"gamma", Takes::kFp32}};
  gradient.outputs = {{"dx", Gives::kSum}};
  gradient.infer = infer_layer_normalization_gradient;
  gradient.operations = operations_per_element<8>;
  gradient.lower = walks<Walk::kRows>;
  executes<LayerNormalizationGradientRun>(gradient);

  Operator scale;
  scale.name = "LayerNormalizationScaleGradient";
  scale.summary = "the gradient of gamma: sums of the columns of dy (x - mean) rstd, rows ascending";
  scale.inputs = {{"dy"}, {"x", Takes::kSum}, {"mean", Takes::kFp32}, {"rstd", Takes::kFp32}};
  scale.outputs = {{"dgamma", Gives::kFp32}};
  scale.infer = infer_layer_normalization_scale_gradient;
  scale.operations = operations_per_input<3>;
  scale.lower = walks<Walk::kColumns>;
  executes<LayerNormalizationScaleGradientRun>(scale);
  return {norm, gradient, scale};
}

} // namespace gradweave::graph
