// MeanSquaredError: the mean of (x - target)^2 over all elements; and its gradient.
#include "graph/operators/loss/elementwise_loss.hpp"

namespace gradweave::graph {
namespace {

struct MeanSquaredErrorRun {
  template <class A> static void run(Kernel<A> &k) {
    mean_of_terms(k, 2, [](auto sum, auto x, auto target) {
      const auto off = A::sub(x, target);
      return A::fma(off, off, sum);
    });
  }
};

struct MeanSquaredErrorGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const std::int64_t whole = k.attributes().integer("elements");
    const auto share = whole == 0 ? share_of_elements<A>(k, 1) : number<A>(1.0 / static_cast<double>(whole));
    slope_of_terms(k, 2, A::mul(share, number<A>(2)), [](auto x, auto target) { return A::sub(x, target); });
  }
};

void derive_mean_squared_error(Derivation &d) {
  if (!d.wants(0) && !d.wants(1)) return;
  const TensorId dx = d.build.add("MeanSquaredErrorGradient", {d.gradient(), d.input(0), d.input(1)}, {}, d.name(0));
  if (d.wants(0)) d.give(0, dx);
  if (d.wants(1)) d.give(1, d.build.add("Neg", {dx}, {}, d.name(1)));
}

} // namespace

std::vector<Operator> mean_squared_error_operators() {
  Operator loss;
  loss.name = "MeanSquaredError";
  loss.summary = "mean of (x - target)^2 over all elements";
  loss.inputs = {{"x", Takes::kSum}, {"target", Takes::kSum}};
  loss.outputs = {{"loss", Gives::kFp32}};
  loss.infer = infer_elementwise_loss;
  loss.derive = derive_mean_squared_error;
  loss.operations = operations_per_input<2>;
  loss.lower = walks<Walk::kWhole>;
  executes<MeanSquaredErrorRun>(loss);

  Operator gradient;
  gradient.name = "MeanSquaredErrorGradient";
  gradient.summary = "2 (x - target) dloss / elements";
  gradient.inputs = {{"dloss", Takes::kFp32}, {"x", Takes::kSum}, {"target", Takes::kSum}};
  gradient.outputs = {{"dx", Gives::kSum}};
  gradient.attributes = {{"elements", AttributeKind::kInteger, std::int64_t{0},
                          "of the whole batch, whose mean the loss is; 0: those of x"}};
  gradient.infer = infer_elementwise_loss_gradient;
  gradient.operations = operations_per_element<2>;
  executes<MeanSquaredErrorGradientRun>(gradient);
  return {loss, gradient};
}

} // namespace gradweave::graph
