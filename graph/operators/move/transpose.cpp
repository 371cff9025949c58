// Transpose: dimensions in another order.
#include "graph/operators/move/block.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

struct TransposeRun {
  template <class A> static void run(Kernel<A> &k) {
    const std::vector<std::size_t> strides = strides_of(k.in_shape(0));
    BlockMove move;
    move.to_strides = strides_of(k.out_shape(0));
    for (const std::int64_t axis : k.attributes().integers("perm")) {
      move.dims.push_back(k.in_shape(0)[static_cast<std::size_t>(axis)]);
      move.from_strides.push_back(strides[static_cast<std::size_t>(axis)]);
    }
    move_block(k, move, input(0), output(0));
  }
};

void infer_transpose(Inference &op) {
  const std::vector<std::int64_t> &perm = op.attributes().integers("perm");
  const Shape &x = op.shape(0);
  std::vector<std::uint32_t> dims;
  std::vector<bool> seen(x.rank());
  for (const std::int64_t axis : perm) {
    const bool fits = axis >= 0 && axis < static_cast<std::int64_t>(x.rank()) && !seen[static_cast<std::size_t>(axis)];
    if (!fits) break;
    seen[static_cast<std::size_t>(axis)] = true;
    dims.push_back(x[static_cast<std::size_t>(axis)]);
  }
  if (dims.size() != x.rank() || perm.size() != x.rank())
    op.fail(fmt::format("attribute 'perm' = {} must name each axis of x {} once, 0 to {}", to_string(Attribute(perm)),
                        x.text(), static_cast<std::int64_t>(x.rank()) - 1));
  op.set(0, Shape(std::move(dims)));
}

void derive_transpose(Derivation &d) {
  const std::vector<std::int64_t> &perm = d.attributes().integers("perm");
  std::vector<std::int64_t> inverse(perm.size());
  for (std::size_t axis = 0; axis < perm.size(); ++axis)
    inverse[static_cast<std::size_t>(perm[axis])] = static_cast<std::int64_t>(axis);
  d.give(0, d.build.add("Transpose", {d.gradient()}, {{"perm", inverse}}, d.name(0)));
}

} // namespace

std::vector<Operator> transpose_operators() {
  Operator op;
  op.name = "Transpose";
  op.summary = "x with its dimensions in another order";
  op.inputs = {{"x"}};
  op.outputs = {{"y", Gives::kAsInput}};
  op.attributes = {{"perm", AttributeKind::kIntegers, {}, "for each dimension of the result, that of x"}};
  op.infer = infer_transpose;
  op.derive = derive_transpose;
  op.operations = no_operations;
  op.lower = walks<Walk::kMove>;
  executes<TransposeRun>(op);
  return {op};
}

} // namespace gradweave::graph
