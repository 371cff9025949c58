// Add, Sub, Mul and Div of two tensors, broadcast; residual streams, and gradients that meet at a fan-out.
#include "graph/operators/loops/broadcast.hpp"
#include "graph/operators/loops/function_cost.hpp"

namespace gradweave::graph {
namespace {

struct AddRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_repeated<A>(k, [](auto a, auto b) { return A::add(a, b); });
  }
};
struct SubRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_repeated<A>(k, [](auto a, auto b) { return A::sub(a, b); });
  }
};
struct MulRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_repeated<A>(k, [](auto a, auto b) { return A::mul(a, b); });
  }
};
struct DivRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_repeated<A>(k, [](auto a, auto b) { return A::div(a, b); });
  }
};

void derive_add(Derivation &d) {
  if (d.wants(0)) give_summed(d, 0, d.gradient());
  if (d.wants(1)) give_summed(d, 1, d.gradient());
}

void derive_sub(Derivation &d) {
  if (d.wants(0)) give_summed(d, 0, d.gradient());
  if (d.wants(1)) give_summed(d, 1, d.build.add("Neg", {d.gradient()}));
}

void derive_mul(Derivation &d) {
  if (d.wants(0)) give_summed(d, 0, d.build.add("Mul", {d.gradient(), d.input(1)}));
  if (d.wants(1)) give_summed(d, 1, d.build.add("Mul", {d.gradient(), d.input(0)}));
}

void derive_div(Derivation &d) {
  const TensorId da = d.build.add("Div", {d.gradient(), d.input(1)});
  if (d.wants(0)) give_summed(d, 0, da);
  if (d.wants(1)) give_summed(d, 1, d.build.add("Neg", {d.build.add("Mul", {da, d.output(0)})}));
}

Operator binary(std::string_view name, std::string_view summary, Takes takes, void (*derive)(Derivation &)) {
  Operator op;
  op.name = name;
  op.summary = summary;
  op.inputs = {{"a", takes}, {"b", takes}};
  op.outputs = {{"y", Gives::kSum}};
  op.infer = infer_broadcast;
  op.derive = derive;
  op.operations = operations_per_element<1>;
  return op;
}

} // namespace

std::vector<Operator> arithmetic_operators() {
  Operator add = binary("Add", "a + b", Takes::kSum, derive_add);
  executes<AddRun>(add);
  Operator sub = binary("Sub", "a - b", Takes::kSum, derive_sub);
  executes<SubRun>(sub);
  Operator mul = binary("Mul", "a b", Takes::kReal, derive_mul);
  executes<MulRun>(mul);
  Operator div = binary("Div", "a / b", Takes::kReal, derive_div);
  div.operations = operations_per_element<function_cost::divide>;
  executes<DivRun>(div);
  return {add, sub, mul, div};
}

} // namespace gradweave::graph
