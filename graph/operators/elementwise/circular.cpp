// Sin, Cos and Atan.
#include "graph/operators/activation/activation.hpp"

namespace gradweave::graph {
namespace {

struct SinRun {
  template <class A> static void run(Kernel<A> &k) {
    map_function(k, [](auto x) { return A::sin(x); });
  }
};
struct CosRun {
  template <class A> static void run(Kernel<A> &k) {
    map_function(k, [](auto x) { return A::cos(x); });
  }
};
struct AtanRun {
  template <class A> static void run(Kernel<A> &k) {
    map_function(k, [](auto x) { return A::atan(x); });
  }
};
struct AtanGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_function(k, [](auto dy, auto x) { return A::div(dy, A::fma(x, x, number<A>(1))); });
  }
};

void derive_sin(Derivation &d) {
  d.give(0, d.build.add("Mul", {d.gradient(), d.build.add("Cos", {d.input(0)})}, {}, d.name(0)));
}
void derive_cos(Derivation &d) {
  const TensorId slope = d.build.add("Neg", {d.build.add("Sin", {d.input(0)})});
  d.give(0, d.build.add("Mul", {d.gradient(), slope}, {}, d.name(0)));
}

unsigned atan_gradient_operations() { return 1 + function_cost::divide(); }

} // namespace

std::vector<Operator> circular_operators() {
  Operator sin = activation<SinRun, From::kInput>("Sin", "the sine of x in radians; NaN beyond 2^22",
                                                  operations_per_element<function_cost::sin>);
  sin.outputs[0].gives = Gives::kSum;
  sin.derive = derive_sin;
  Operator cos = activation<CosRun, From::kInput>("Cos", "the cosine of x in radians; NaN beyond 2^22",
                                                  operations_per_element<function_cost::cos>);
  cos.outputs[0].gives = Gives::kSum;
  cos.derive = derive_cos;
  return {sin, cos,
          activation<AtanRun, From::kInput>("Atan", "the angle from -pi / 2 to pi / 2 whose tangent is x",
                                            operations_per_element<function_cost::atan>),
          activation_gradient<AtanGradientRun, From::kInput>("AtanGradient", "dy / (1 + x^2)",
                                                             operations_per_element<atan_gradient_operations>)};
}

} // namespace gradweave::graph
