// LeakyRelu: a slope of alpha below 0; and its gradient.
#include "graph/operators/activation/activation.hpp"

namespace gradweave::graph {
namespace {

struct LeakyReluRun {
  template <class A> static void run(Kernel<A> &k) {
    const auto alpha = real_attribute(k, "alpha");
    map_elements(k, [alpha](auto x) { return A::select(A::lt(x, number<A>(0)), A::mul(x, alpha), x); });
  }
};

struct LeakyReluGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const auto alpha = real_attribute(k, "alpha");
    zip_elements(k, [alpha](auto dy, auto x) { return A::select(A::lt(number<A>(0), x), dy, A::mul(dy, alpha)); });
  }
};

} // namespace

std::vector<Operator> leaky_relu_operators() {
  const AttributeSpec alpha{"alpha", AttributeKind::kReal, 0.01, "slope below 0"};
  Operator forward =
      activation<LeakyReluRun, From::kInput>("LeakyRelu", "x, or alpha x below 0", operations_per_element<2>);
  forward.attributes = {alpha};
  Operator gradient = activation_gradient<LeakyReluGradientRun, From::kInput>(
      "LeakyReluGradient", "dy where x is above 0, else alpha dy", operations_per_element<2>);
  gradient.attributes = {alpha};
  return {forward, gradient};
}

} // namespace gradweave::graph
