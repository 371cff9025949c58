// Pad: a frame of one value around x. Its gradient is a slice.
#include "graph/operators/move/block.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

struct PadRun {
  template <class A> static void run(Kernel<A> &k) {
    const Shape &x = k.in_shape(0);
    fill_elements(k, output(0), k.out_shape(0).elements(), real_attribute(k, "value"));
    BlockMove move{{x.dims().begin(), x.dims().end()}, strides_of(x), strides_of(k.out_shape(0))};
    for (std::size_t axis = 0; axis < x.rank(); ++axis)
      move.to += static_cast<std::size_t>(k.attributes().integers("pads")[axis]) * move.to_strides[axis];
    move_block(k, move, input(0), output(0));
  }
};

void infer_pad(Inference &op) {
  const std::vector<std::int64_t> &pads = op.attributes().integers("pads");
  const Shape &x = op.shape(0);
  const bool fits = pads.size() == 2 * x.rank() &&
                    std::all_of(pads.begin(), pads.end(), [](std::int64_t p) { return p >= 0 && p <= INT32_MAX; });
  if (!fits)
    op.fail(fmt::format("attribute 'pads' = {} must be {} whole numbers from 0 to {} for x {}: those before each axis, "
                        "then those behind each",
                        to_string(Attribute(pads)), 2 * x.rank(), INT32_MAX, x.text()));
  Shape y = x;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    const std::int64_t dim = x[axis] + pads[axis] + pads[x.rank() + axis];
    op.require(dim <= UINT32_MAX, fmt::format("axis {} would have {} elements; there can be 2^32", axis, dim));
    y.set(axis, static_cast<std::uint32_t>(dim));
  }
  op.set(0, y);
}

void derive_pad(Derivation &d) {
  const Shape &x = d.shape(0);
  std::vector<std::int64_t> starts, ends;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    starts.push_back(d.attributes().integers("pads")[axis]);
    ends.push_back(starts.back() + x[axis]);
  }
  d.give(0, d.build.add("Slice", {d.gradient()}, {{"starts", starts}, {"ends", ends}}, d.name(0)));
}

} // namespace

std::vector<Operator> pad_operators() {
  Operator op;
  op.name = "Pad";
  op.summary = "x with a frame of one value";
  op.inputs = {{"x"}};
  op.outputs = {{"y", Gives::kAsInput}};
  op.attributes = {{"pads", AttributeKind::kIntegers, {}, "elements before each axis, then those behind each"},
                   {"value", AttributeKind::kReal, 0.0, "of the frame"}};
  op.infer = infer_pad;
  op.derive = derive_pad;
  op.operations = no_operations;
  op.lower = walks<Walk::kMove>;
  executes<PadRun>(op);
  return {op};
}

} // namespace gradweave::graph
