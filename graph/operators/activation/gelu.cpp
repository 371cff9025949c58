// Gelu and its gradient; the functions are in gelu.hpp.
#include "graph/operators/activation/gelu.hpp"

#include "graph/operators/activation/activation.hpp"

namespace gradweave::graph {
namespace {

template <class A> bool by_tanh(const Kernel<A> &k) { return k.attributes().text("approximate") == "tanh"; }

struct GeluRun {
  template <class A> static void run(Kernel<A> &k) {
    if (by_tanh(k))
      map_function(k, [](auto x) { return GeluByTanh::value<A>(x); });
    else
      map_function(k, [](auto x) { return GeluByErf::value<A>(x); });
  }
};

struct GeluGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    if (by_tanh(k))
      zip_function(k, [](auto dy, auto x) { return A::mul(dy, GeluByTanh::slope<A>(x)); });
    else
      zip_function(k, [](auto dy, auto x) { return A::mul(dy, GeluByErf::slope<A>(x)); });
  }
};

void check_approximate(const Inference &op) {
  const std::string &approximate = op.attributes().text("approximate");
  op.require(approximate == "none" || approximate == "tanh",
             "approximate is \"" + approximate + "\"; it must be \"none\" or \"tanh\"");
}

void infer_gelu(Inference &op) {
  check_approximate(op);
  infer_like_first(op);
}

void infer_gelu_gradient(Inference &op) {
  check_approximate(op);
  infer_activation_gradient(op);
}

double gelu_operations(const OpView &op) {
  const bool tanh = op.op.attributes.text("approximate") == "tanh";
  return (tanh ? 6 + function_cost::tanh() : 4 + function_cost::erf()) *
         static_cast<double>(op.output(0).shape.elements());
}

double gelu_gradient_operations(const OpView &op) {
  const bool tanh = op.op.attributes.text("approximate") == "tanh";
  return (tanh ? 12 + function_cost::tanh() : 9 + function_cost::erf() + function_cost::exp_midrange()) *
         static_cast<double>(op.output(0).shape.elements());
}

} // namespace

std::vector<Operator> gelu_operators() {
  const AttributeSpec approximate{"approximate", AttributeKind::kText, std::string("none"),
                                  "\"none\": by erf; \"tanh\": by tanh of a cubic"};
  Operator gelu = activation<GeluRun, From::kInput>("Gelu", "x Phi(x), Phi the normal distribution", gelu_operations);
  gelu.attributes = {approximate};
  gelu.infer = infer_gelu;
  Operator gradient = activation_gradient<GeluGradientRun, From::kInput>(
      "GeluGradient", "dy (Phi(x) + x phi(x)), or the same of the approximation", gelu_gradient_operations);
  gradient.attributes = {approximate};
  gradient.infer = infer_gelu_gradient;
  return {gelu, gradient};
}

} // namespace gradweave::graph
