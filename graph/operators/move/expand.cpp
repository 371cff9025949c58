// Expand: x repeated to a shape that it broadcasts to. Its gradient is SumTo.
#include "graph/operators/loops/broadcast.hpp"
#include "graph/operators/move/block.hpp"

namespace gradweave::graph {
namespace {

struct ExpandRun {
  template <class A> static void run(Kernel<A> &k) {
    const RepeatWalk walk(k.out_shape(0), {&k.in_shape(0)});
    const auto *x = k.in(0);
    auto *y = k.out(0);
    k.parallel(k.out_shape(0).elements(), 1, [&](std::size_t begin, std::size_t end) {
      walk_rows<1>(walk, begin, end, [&](std::size_t at, std::size_t length, const std::array<std::size_t, 1> &from) {
        for (std::size_t i = 0; i < length; ++i)
          y[at + i] = x[from[0] + i * walk.strides[0].back()];
      });
    });
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
