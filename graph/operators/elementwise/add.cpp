// Add: the sum of two tensors of one shape; residual streams, and gradients that meet at a fan-out.
#include "graph/operators/entry.hpp"

namespace gradweave::graph {
namespace {

struct AddRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_elements(k, [](auto a, auto b) { return A::add(a, b); });
  }
};

void infer_add(Inference &op) {
  op.require(op.shape(0) == op.shape(1),
             "the shapes are " + op.shape(0).text() + " and " + op.shape(1).text() + "; they must be equal");
  op.set(0, op.shape(0));
}

void derive_add(Derivation &d) {
  d.give(0, d.gradient());
  d.give(1, d.gradient());
}

} // namespace

std::vector<Operator> add_operators() {
  Operator add;
  add.name = "Add";
  add.summary = "a + b";
  add.inputs = {{"a", Takes::kSum}, {"b", Takes::kSum}};
  add.outputs = {{"y", Gives::kSum}};
  add.infer = infer_add;
  add.derive = derive_add;
  add.operations = operations_per_element<1>;
  executes<AddRun>(add);
  return {add};
}

} // namespace gradweave::graph
