// BinaryCrossEntropyWithLogits: the mean over all elements of -t log s - (1 - t) log(1 - s), s = 1 / (1 + e^-x); and
// its gradient. A target may lie between 0 and 1; it gets no gradient.
#include "graph/operators/activation/log1p.hpp"
#include "graph/operators/loss/elementwise_loss.hpp"

namespace gradweave::graph {
namespace {

struct BinaryCrossEntropyRun {
  template <class A> static void run(Kernel<A> &k) {
    mean_of_terms(k, 100,
                  [](auto sum, auto x, auto target) { return A::add(sum, A::fma(-x, target, soft_plus<A>(x))); });
  }
};

struct BinaryCrossEntropyGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    slope_of_terms(k, 40, share_of_elements<A>(k, 1),
                   [](auto x, auto target) { return A::sub(A::sigmoid(x), target); });
  }
};

void derive_binary_cross_entropy(Derivation &d) {
  if (d.wants(1))
    d.build.fail(describe(d.op()) + ": no gradient passes to the target '" + d.build.tensor(d.input(1)).name +
                 "'; freeze it");
  d.give(0, d.build.add("BinaryCrossEntropyWithLogitsGradient", {d.gradient(), d.input(0), d.input(1)}, {}, d.name(0)));
}

double binary_cross_entropy_operations(const OpView &op) {
  return (2 + soft_plus_operations()) * static_cast<double>(op.input(0).shape.elements());
}
unsigned binary_cross_entropy_gradient_operations() { return 2 + function_cost::sigmoid(); }

} // namespace

std::vector<Operator> binary_cross_entropy_operators() {
  Operator loss;
  loss.name = "BinaryCrossEntropyWithLogits";
  loss.summary = "mean over all elements of log(1 + e^x) - x target";
  loss.inputs = {{"x", Takes::kSum}, {"target", Takes::kSum}};
  loss.outputs = {{"loss", Gives::kFp32}};
  loss.infer = infer_elementwise_loss;
  loss.derive = derive_binary_cross_entropy;
  loss.operations = binary_cross_entropy_operations;
  loss.lower = walks<Walk::kWhole>;
  executes<BinaryCrossEntropyRun>(loss);

  Operator gradient;
  gradient.name = "BinaryCrossEntropyWithLogitsGradient";
  gradient.summary = "(1 / (1 + e^-x) - target) dloss / elements";
  gradient.inputs = {{"dloss", Takes::kFp32}, {"x", Takes::kSum}, {"target", Takes::kSum}};
  gradient.outputs = {{"dx", Gives::kSum}};
  gradient.infer = infer_elementwise_loss_gradient;
  gradient.operations = operations_per_element<binary_cross_entropy_gradient_operations>;
  executes<BinaryCrossEntropyGradientRun>(gradient);
  return {loss, gradient};
}

} // namespace gradweave::graph
