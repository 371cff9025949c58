// Pow: a to the power b, broadcast, by exponential and logarithm of |a|.
#include "graph/operators/loops/broadcast.hpp"
#include "graph/operators/loops/function_cost.hpp"

#include <limits>

namespace gradweave::graph {
namespace {

struct PowRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_repeated<A>(k, [](auto a, auto b) {
      const auto zero = number<A>(0), one = number<A>(1);
      const auto size = A::exp(A::mul(b, A::log(A::max(a, -a))));
      // A number below 0 has powers with whole exponents only: of even ones above, of odd ones below 0.
      const auto half = A::mul(b, number<A>(0.5));
      const auto whole = A::select(A::eq(A::round(half), half), one, number<A>(-1));
      const auto below = A::select(A::eq(A::round(b), b), whole, number<A>(kNoPower));
      const auto sign = A::select(A::lt(a, zero), below, one);
      return A::mul(A::select(A::eq(b, zero), one, size), sign);
    });
  }

private:
  static constexpr double kNoPower = std::numeric_limits<double>::quiet_NaN();
};

/// Both gradients are ops of their own: a power of b - 1, and a logarithm.
void derive_pow(Derivation &d) {
  if (d.wants(0)) {
    const TensorId one = d.build.constant(d.build.fresh("one"), {}, {1}, ElementType::kFp32);
    const TensorId lower = d.build.add("Pow", {d.input(0), d.build.add("Sub", {d.input(1), one})});
    give_summed(d, 0, d.build.add("Mul", {d.gradient(), d.build.add("Mul", {d.input(1), lower})}));
  }
  if (d.wants(1)) {
    const TensorId slope = d.build.add("Mul", {d.output(0), d.build.add("Log", {d.input(0)})});
    give_summed(d, 1, d.build.add("Mul", {d.gradient(), slope}));
  }
}

unsigned pow_operations() { return 11 + function_cost::exp() + function_cost::log() + 2 * function_cost::round(); }

} // namespace

std::vector<Operator> pow_operators() {
  Operator op;
  op.name = "Pow";
  op.summary = "a to the power b; of a below 0 where b is whole";
  op.inputs = {{"a"}, {"b"}};
  op.outputs = {{"y", Gives::kSum}};
  op.infer = infer_broadcast;
  op.derive = derive_pow;
  op.operations = operations_per_element<pow_operations>;
  executes<PowRun>(op);
  return {op};
}

} // namespace gradweave::graph
