// Relu and its gradient.
#include "graph/operators/loops/entry.hpp"

namespace gradweave::graph {
namespace {

struct ReluRun {
  template <class A> static void run(Kernel<A> &k) {
    // A NaN stays one (N18): it is not less than 0.
    map_elements(k, [](auto x) { return A::select(A::lt(x, number<A>(0)), number<A>(0), x); });
  }
};

struct ReluGradientRun {
  /// Inputs: dY, and Y or X, which are above 0 at the same places.
  template <class A> static void run(Kernel<A> &k) {
    zip_elements(k, [](auto dy, auto y) { return A::select(A::lt(number<A>(0), y), dy, number<A>(0)); });
  }
};

void derive_relu(Derivation &d) { d.give(0, d.build.add("ReluGradient", {d.gradient(), d.output(0)}, {}, d.name(0))); }

} // namespace

std::vector<Operator> relu_operators() {
  Operator relu;
  relu.name = "Relu";
  relu.summary = "max(x, 0)";
  relu.inputs = {{"x"}};
  relu.outputs = {{"y"}};
  relu.infer = infer_like_first;
  relu.derive = derive_relu;
  relu.operations = operations_per_element<1>;
  executes<ReluRun>(relu);

  Operator gradient;
  gradient.name = "ReluGradient";
  gradient.summary = "dY where y is above 0, else 0";
  gradient.inputs = {{"dy"}, {"y"}};
  gradient.outputs = {{"dx"}};
  gradient.infer = infer_like_first;
  gradient.operations = operations_per_element<2>;
  executes<ReluGradientRun>(gradient);
  return {relu, gradient};
}

} // namespace gradweave::graph
