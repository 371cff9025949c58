// Mod: what a division by whole steps leaves, with the sign of the dividend, as C's fmod.
#include "graph/operators/loops/broadcast.hpp"
#include "graph/operators/loops/function_cost.hpp"

namespace gradweave::graph {
namespace {

struct ModRun {
  /// The rest to the nearest whole quotient has no rounding, as long as that quotient is below 2^22.
  template <class A> static void run(Kernel<A> &k) {
    zip_repeated<A>(k, [](auto a, auto b) {
      const auto zero = number<A>(0), step = A::max(b, -b), size = A::max(a, -a);
      const auto rest = A::fma(-A::round(A::div(size, step)), step, size);
      const auto positive = A::select(A::lt(rest, zero), A::add(rest, step), rest);
      return A::mul(positive, A::select(A::lt(a, zero), number<A>(-1), number<A>(1)));
    });
  }
};

/// The whole quotient, (a - y) / b, is constant nearly everywhere.
void derive_mod(Derivation &d) {
  if (d.wants(0)) give_summed(d, 0, d.gradient());
  if (d.wants(1)) {
    const TensorId steps = d.build.add("Div", {d.build.add("Sub", {d.input(0), d.output(0)}), d.input(1)});
    give_summed(d, 1, d.build.add("Neg", {d.build.add("Mul", {d.gradient(), steps})}));
  }
}

unsigned mod_operations() { return 8 + function_cost::divide() + function_cost::round(); }

} // namespace

std::vector<Operator> mod_operators() {
  Operator op;
  op.name = "Mod";
  op.summary = "the rest of a / b, with a's sign";
  op.inputs = {{"a"}, {"b"}};
  op.outputs = {{"y", Gives::kSum}};
  op.infer = infer_broadcast;
  op.derive = derive_mod;
  op.operations = operations_per_element<mod_operations>;
  executes<ModRun>(op);
  return {op};
}

} // namespace gradweave::graph
