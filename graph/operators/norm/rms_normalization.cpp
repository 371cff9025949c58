// RMSNormalization: rows brought to a mean square of 1, then scaled by column; B. Zhang, R. Sennrich, "Root mean square
// layer normalization". And its gradients.
#include "graph/operators/norm/normalization.hpp"

namespace gradweave::graph {
namespace {

struct RmsNormalizationRun {
  template <class A> static void run(Kernel<A> &k) {
    using Value = typename A::Value;
    const std::size_t cols = k.in_shape(0).cols();
    const Value share = number<A>(1.0 / static_cast<double>(cols)), epsilon = real_attribute(k, "epsilon");
    const Value *const gamma = k.in(1);
    for_rows(k, k.in_shape(0), 8, [&](std::size_t row) {
      const Value *const x = k.in(0) + row * cols;
      Value *const y = k.out(0) + row * cols;
      const auto value = [x](std::size_t i) { return x[i]; };
      const Value rstd = A::rsqrt(A::add(A::mul(row_product<A>(cols, value, value), share), epsilon));
      for (std::size_t i = 0; i < cols; ++i)
        y[i] = A::mul(A::mul(x[i], rstd), gamma[i]);
      if (k.has_out(1)) k.out(1)[row] = rstd;
    });
  }
};

struct RmsNormalizationGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    using Value = typename A::Value;
    const std::size_t cols = k.in_shape(0).cols();
    const Value share = number<A>(1.0 / static_cast<double>(cols));
    const Value *const gamma = k.in(3);
    for_rows(k, k.in_shape(0), 10, [&](std::size_t row) {
      const Value *const dy = k.in(0) + row * cols, *const x = k.in(1) + row * cols;
      const Value rstd = k.in(2)[row];
      Value *const dx = k.out(0) + row * cols;
      const auto scaled = [dy, gamma](std::size_t i) { return A::mul(dy[i], gamma[i]); };
      const auto normal = [x, rstd](std::size_t i) { return A::mul(x[i], rstd); };
      const Value of_slope = A::mul(row_product<A>(cols, scaled, normal), share);
      for (std::size_t i = 0; i < cols; ++i)
        dx[i] = A::mul(A::fma(-normal(i), of_slope, scaled(i)), rstd);
    });
  }
};

struct RmsNormalizationScaleGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const std::size_t rows = k.in_shape(0).rows(), cols = k.in_shape(0).cols();
    const auto *const dy = k.in(0), *const x = k.in(1), *const rstd = k.in(2);
    fold_columns<A>(k, rows, cols, k.out(0), [=](auto sum, std::size_t i, std::size_t row, std::size_t) {
      return A::fma(dy[i], A::mul(x[i], rstd[row]), sum);
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
