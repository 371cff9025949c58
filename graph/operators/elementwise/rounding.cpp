// Round, Floor and Ceil: constant nearly everywhere, so no gradient passes on.
#include "graph/operators/activation/activation.hpp"

namespace gradweave::graph {
namespace {

struct RoundRun {
  template <class A> static void run(Kernel<A> &k) {
    map_function(k, [](auto x) { return A::round(x); });
  }
};
struct FloorRun {
  template <class A> static void run(Kernel<A> &k) {
    map_function(k, [](auto x) {
      const auto near = A::round(x);
      return A::sub(near, A::select(A::lt(x, near), number<A>(1), number<A>(0)));
    });
  }
};
struct CeilRun {
  template <class A> static void run(Kernel<A> &k) {
    map_function(k, [](auto x) {
      const auto near = A::round(x);
      return A::add(near, A::select(A::lt(near, x), number<A>(1), number<A>(0)));
    });
  }
};

unsigned floor_operations() { return 3 + function_cost::round(); }

template <class Run> Operator rounding(std::string_view name, std::string_view summary, CountOperations operations) {
  Operator op = activation<Run, From::kInput>(name, summary, operations);
  op.outputs[0].gives = Gives::kSum; // a whole number above 256 is no bf16
  op.derive = derive_nothing;
  return op;
}

} // namespace

std::vector<Operator> rounding_operators() {
  return {rounding<RoundRun>("Round", "the nearest whole number, of two the even one",
                             operations_per_element<function_cost::round>),
          rounding<FloorRun>("Floor", "the largest whole number that is not above x",
                             operations_per_element<floor_operations>),
          rounding<CeilRun>("Ceil", "the least whole number that is not below x",
                            operations_per_element<floor_operations>)};
}

} // namespace gradweave::graph
