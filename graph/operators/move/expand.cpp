// Expand: x repeated to a shape that it broadcasts to. Its gradient is SumTo.
#include "graph/operators/loops/broadcast.hpp"
#include "graph/operators/move/block.hpp"

namespace gradweave::graph {
namespace {

struct ExpandRun {
  template <class A> static void run(Kernel<A> &k) {
    repeat_input<A>(k, RepeatWalk(k.out_shape(0), {&k.in_shape(0)}), [](auto x) { return x; });
  }
};

void infer_expand(Inference &op) {
  const Shape shape = shape_attribute(op, "shape");
  require_broadcasts(op, op.shape(0), shape);
  op.set(0, shape);
}

void derive_expand(Derivation &d) {
  d.give(0, d.build.add("SumTo", {d.gradient()}, {{"shape", numbers_of(d.shape(0))}}, d.name(0)));
}

} // namespace

std::vector<Operator> expand_operators() {
  Operator op;
  op.name = "Expand";
  op.summary = "x repeated to a shape";
  op.inputs = {{"x"}};
  op.outputs = {{"y", Gives::kAsInput}};
  op.attributes = {{"shape", AttributeKind::kIntegers, {}, "of the result, which x broadcasts to"}};
  op.infer = infer_expand;
  op.derive = derive_expand;
  op.operations = no_operations;
  op.lower = walks<Walk::kMove>;
  executes<ExpandRun>(op);
  return {op};
}

} // namespace gradweave::graph
