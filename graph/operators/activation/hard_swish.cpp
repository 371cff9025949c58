// HardSwish: x times a gate of straight lines, which stands for a sigmoid; and its gradient.
#include "graph/operators/activation/activation.hpp"

namespace gradweave::graph {
namespace {

struct HardSwishRun {
  template <class A> static void run(Kernel<A> &k) {
    map_elements(k, [](auto x) {
      const auto gate = A::fma(x, number<A>(1.0 / 6), number<A>(0.5));
      return A::mul(x, A::min(A::max(gate, number<A>(0)), number<A>(1)));
    });
  }
};

struct HardSwishGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_elements(k, [](auto dy, auto x) {
      const auto slope = A::fma(x, number<A>(1.0 / 3), number<A>(0.5));
      const auto above = A::select(A::lt(x, number<A>(3)), slope, number<A>(1));
      return A::mul(dy, A::select(A::lt(x, number<A>(-3)), number<A>(0), above));
    });
  }
};

} // namespace

std::vector<Operator> hard_swish_operators() {
  return {
      activation<HardSwishRun, From::kInput>("HardSwish", "x min(max(x / 6 + 1 / 2, 0), 1)", operations_per_element<4>),
      activation_gradient<HardSwishGradientRun, From::kInput>(
          "HardSwishGradient", "dy (x / 3 + 1 / 2) between -3 and 3, 0 below, dy above", operations_per_element<6>)};
}

} // namespace gradweave::graph
