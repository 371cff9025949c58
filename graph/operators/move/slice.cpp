// Slice: every so many elements of x between two indices of each axis; and its gradient.
#include "graph/operators/move/block.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

struct SliceRange {
  std::size_t start = 0, step = 1, count = 0;
};

/// One for each axis of x, of an op whose attributes fit it; fails through `fail` otherwise.
template <typename Fail> std::vector<SliceRange> ranges(const Attributes &a, const Shape &x, Fail fail) {
  const std::vector<std::int64_t> &starts = a.integers("starts"), &ends = a.integers("ends"),
                                  &axes = a.integers("axes"), &steps = a.integers("steps");
  const auto rank = static_cast<std::int64_t>(x.rank());
  std::vector<SliceRange> all(x.rank());
  for (std::size_t axis = 0; axis < x.rank(); ++axis)
    all[axis].count = x[axis];
  if (ends.size() != starts.size() || (!axes.empty() && axes.size() != starts.size()) ||
      (!steps.empty() && steps.size() != starts.size()))
    fail("attributes 'starts', 'ends', and 'axes' and 'steps' where they are given, must be of one length");
  std::vector<bool> seen(x.rank());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    std::int64_t axis = axes.empty() ? static_cast<std::int64_t>(i) : axes[i];
    if (axis < -rank || axis >= rank || seen[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)])
      fail(fmt::format("axis {} is none of x {}, or named twice", axis, x.text()));
    const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    seen[at] = true;
    const std::int64_t size = x[at], step = steps.empty() ? 1 : steps[i];
    // As ONNX has it: an index below 0 counts from the end, and what lies outside is moved to the edge.
    const auto clamped = [size](std::int64_t index) {
      return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
    };
    const std::int64_t start = clamped(starts[i]), end = clamped(ends[i]);
    if (step < 1 || start >= end)
      fail(fmt::format("from {} to {} in steps of {} there is nothing of axis {} of x {}; the end must lie behind the "
                       "start, and the step be at least 1",
                       starts[i], ends[i], step, axis, x.text()));
    all[at] = {static_cast<std::size_t>(start), static_cast<std::size_t>(step),
               static_cast<std::size_t>((end - start - 1) / step + 1)};
  }
  return all;
}

/// The place of the slice in x, as a walk over the slice that reads x.
BlockMove slice_walk(const Attributes &attributes, const Shape &x, const Shape &slice) {
  const std::vector<std::size_t> strides = strides_of(x);
  BlockMove move;
  move.to_strides = strides_of(slice);
  std::size_t axis = 0;
  for (const SliceRange &range : ranges(attributes, x, [](const std::string &) {})) {
    move.dims.push_back(range.count);
    move.from_strides.push_back(strides[axis] * range.step);
    move.from += strides[axis] * range.start;
    ++axis;
  }
  return move;
}

struct SliceRun {
  template <class A> static void run(Kernel<A> &k) {
    move_block(k, slice_walk(k.attributes(), k.in_shape(0), k.out_shape(0)), input(0), output(0));
  }
};

struct SliceGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    BlockMove move = slice_walk(k.attributes(), k.out_shape(0), k.in_shape(0));
    std::swap(move.from, move.to);
    std::swap(move.from_strides, move.to_strides);
    fill_elements(k, output(0), k.out_shape(0).elements(), number<A>(0));
    move_block(k, move, input(0), output(0));
  }
};

Shape slice_shape(const Inference &op, const Shape &x) {
  std::vector<std::uint32_t> dims;
  for (const SliceRange &range : ranges(op.attributes(), x, [&op](const std::string &message) { op.fail(message); }))
    dims.push_back(static_cast<std::uint32_t>(range.count));
  return Shape(std::move(dims));
}

void infer_slice(Inference &op) { op.set(0, slice_shape(op, op.shape(0))); }

void infer_slice_gradient(Inference &op) {
  const Shape x = shape_attribute(op, "shape"), dy = slice_shape(op, x);
  op.require(op.shape(0) == dy, "dy is " + op.shape(0).text() + "; of x " + x.text() + " it must be " + dy.text());
  op.set(0, x);
}

void derive_slice(Derivation &d) {
  Attributes attributes = d.attributes();
  attributes.set("shape", numbers_of(d.shape(0)));
  d.give(0, d.build.add("SliceGradient", {d.gradient()}, attributes, d.name(0)));
}

std::vector<AttributeSpec> slice_attributes() {
  return {{"starts", AttributeKind::kIntegers, {}, "the first index of each axis; below 0: from the end"},
          {"ends", AttributeKind::kIntegers, {}, "the index behind the last one"},
          {"axes", AttributeKind::kIntegers, std::vector<std::int64_t>{}, "which axes; none: the first ones"},
          {"steps", AttributeKind::kIntegers, std::vector<std::int64_t>{}, "from index to index; none: 1"}};
}

} // namespace

std::vector<Operator> slice_operators() {
  Operator slice;
  slice.name = "Slice";
  slice.summary = "the elements of x between two indices of some axes";
  slice.inputs = {{"x"}};
  slice.outputs = {{"y", Gives::kAsInput}};
  slice.attributes = slice_attributes();
  slice.infer = infer_slice;
  slice.derive = derive_slice;
  slice.operations = no_operations;
  slice.lower = walks<Walk::kMove>;
  executes<SliceRun>(slice);

  Operator gradient;
  gradient.name = "SliceGradient";
  gradient.summary = "dy where the slice was, and +0 around it";
  gradient.inputs = {{"dy"}};
  gradient.outputs = {{"dx", Gives::kAsInput}};
  gradient.attributes = slice_attributes();
  gradient.attributes.push_back({"shape", AttributeKind::kIntegers, {}, "of x"});
  gradient.infer = infer_slice_gradient;
  gradient.operations = no_operations;
  gradient.lower = walks<Walk::kMove>;
  executes<SliceGradientRun>(gradient);
  return {slice, gradient};
}

} // namespace gradweave::graph
