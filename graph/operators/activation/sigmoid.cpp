// Sigmoid, Tanh, Silu and Softplus; and their gradients.
#include "graph/operators/activation/activation.hpp"
#include "graph/operators/activation/log1p.hpp"

namespace gradweave::graph {
namespace {

struct SigmoidRun {
  template <class A> static void run(Kernel<A> &k) {
    map_elements(k, [](auto x) { return A::sigmoid(x); });
  }
};
struct SigmoidGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_elements(k, [](auto dy, auto y) { return A::mul(dy, A::fma(-y, y, y)); });
  }
};

struct TanhRun {
  template <class A> static void run(Kernel<A> &k) {
    map_elements(k, [](auto x) { return A::tanh(x); });
  }
};
struct TanhGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_elements(k, [](auto dy, auto y) { return A::mul(dy, A::fma(-y, y, number<A>(1))); });
  }
};

struct SiluRun {
  template <class A> static void run(Kernel<A> &k) {
    map_elements(k, [](auto x) { return A::mul(x, A::sigmoid(x)); });
  }
};
struct SiluGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_elements(k, [](auto dy, auto x) {
      const auto s = A::sigmoid(x);
      return A::mul(dy, A::mul(s, A::fma(x, A::sub(number<A>(1), s), number<A>(1))));
    });
  }
};

struct SoftplusRun {
  template <class A> static void run(Kernel<A> &k) {
    map_elements(k, [](auto x) { return soft_plus<A>(x); });
  }
};
struct SoftplusGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_elements(k, [](auto dy, auto x) { return A::mul(dy, A::sigmoid(x)); });
  }
};

unsigned silu_operations() { return 1 + function_cost::sigmoid(); }
unsigned silu_gradient_operations() { return 4 + function_cost::sigmoid(); }

} // namespace

std::vector<Operator> sigmoid_operators() {
  return {
      activation<SigmoidRun, From::kOutput>("Sigmoid", "1 / (1 + e^-x)",
                                            operations_per_element<function_cost::sigmoid>),
      activation_gradient<SigmoidGradientRun, From::kOutput>("SigmoidGradient", "dy (y - y^2)",
                                                             operations_per_element<2>),
      activation<TanhRun, From::kOutput>("Tanh", "tanh(x)", operations_per_element<function_cost::tanh>),
      activation_gradient<TanhGradientRun, From::kOutput>("TanhGradient", "dy (1 - y^2)", operations_per_element<2>),
      activation<SiluRun, From::kInput>("Silu", "x / (1 + e^-x)", operations_per_element<silu_operations>),
      activation_gradient<SiluGradientRun, From::kInput>("SiluGradient", "dy s (1 + x (1 - s)), s = 1 / (1 + e^-x)",
                                                         operations_per_element<silu_gradient_operations>),
      activation<SoftplusRun, From::kInput>("Softplus", "log(1 + e^x)", operations_per_element<soft_plus_operations>),
      activation_gradient<SoftplusGradientRun, From::kInput>("SoftplusGradient", "dy / (1 + e^-x)",
                                                             operations_per_element<silu_operations>),
  };
}

} // namespace gradweave::graph
