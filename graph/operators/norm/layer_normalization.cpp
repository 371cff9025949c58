// LayerNormalization: rows brought to mean 0 and variance 1, then scaled and shifted by column; J. Ba, J. Kiros,
// G. Hinton, "Layer normalization". Variance in two passes. And its gradients.
#include "graph/operators/norm/normalization.hpp"

namespace gradweave::graph {
namespace {

struct LayerNormalizationRun {
  template <class A> static void run(Kernel<A> &k) {
    using Value = typename A::Value;
    const std::size_t cols = k.in_shape(0).cols();
    const Value share = number<A>(1.0 / static_cast<double>(cols)), epsilon = real_attribute(k, "epsilon");
    const Value *const gamma = k.in(1), *const beta = k.in(2);
    for_rows(k, k.in_shape(0), 12, [&](std::size_t row) {
      const Value *const x = k.in(0) + row * cols;
      Value *const y = k.out(0) + row * cols;
      const Value mean = A::mul(row_sum<A>(cols, [x](std::size_t i) { return x[i]; }), share);
      for (std::size_t i = 0; i < cols; ++i)
        y[i] = A::sub(x[i], mean);
      const auto away = [y](std::size_t i) { return y[i]; };
      const Value rstd = A::rsqrt(A::add(A::mul(row_product<A>(cols, away, away), share), epsilon));
      for (std::size_t i = 0; i < cols; ++i)
        y[i] = A::fma(A::mul(y[i], rstd), gamma[i], beta[i]);
      if (k.has_out(1)) k.out(1)[row] = mean;
      if (k.has_out(2)) k.out(2)[row] = rstd;
    });
  }
};

struct LayerNormalizationGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    using Value = typename A::Value;
    const std::size_t cols = k.in_shape(0).cols();
    const Value share = number<A>(1.0 / static_cast<double>(cols));
    const Value *const gamma = k.in(4);
    for_rows(k, k.in_shape(0), 14, [&](std::size_t row) {
      const Value *const dy = k.in(0) + row * cols, *const x = k.in(1) + row * cols;
      const Value mean = k.in(2)[row], rstd = k.in(3)[row];
      Value *const dx = k.out(0) + row * cols;
      const auto scaled = [dy, gamma](std::size_t i) { return A::mul(dy[i], gamma[i]); };
      const auto normal = [x, mean, rstd](std::size_t i) { return A::mul(A::sub(x[i], mean), rstd); };
      const Value of_mean = A::mul(row_sum<A>(cols, scaled), share);
      const Value of_slope = A::mul(row_product<A>(cols, scaled, normal), share);
      for (std::size_t i = 0; i < cols; ++i)
        dx[i] = A::mul(A::fma(-normal(i), of_slope, A::sub(scaled(i), of_mean)), rstd);
    });
  }
};

struct LayerNormalizationScaleGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const std::size_t rows = k.in_shape(0).rows(), cols = k.in_shape(0).cols();
    const auto *const dy = k.in(0), *const x = k.in(1), *const mean = k.in(2), *const rstd = k.in(3);
    fold_columns<A>(k, rows, cols, k.out(0), [=](auto sum, std::size_t i, std::size_t row, std::size_t) {
      return A::fma(dy[i], A::mul(A::sub(x[i], mean[row]), rstd[row]), sum);
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
