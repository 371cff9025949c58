// Gather: slices of x along an axis, chosen by indices; of an embedding, rows of a table. And its gradient.
#include "graph/ir/error.hpp"
#include "graph/operators/move/block.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

/// x as [outer, along the axis, inner], `count` indices.
struct GatherSizes {
  std::size_t outer, along, inner, count;
};

std::size_t gather_axis(const Attributes &attributes, std::size_t rank) {
  const std::int64_t axis = attributes.integer("axis");
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

GatherSizes gather_sizes(const Attributes &attributes, const Shape &x, const Shape &indices) {
  const std::size_t axis = gather_axis(attributes, x.rank());
  return {x.count(0, axis), x[axis], x.count(axis + 1, x.rank()), indices.elements()};
}

/// Indices come with the data of a step: they are checked when they are there.
template <class A> const std::int32_t *checked_indices(const Kernel<A> &k, std::size_t along) {
  if constexpr (kRecords<A>)
    if (!k.has_indices(1))
      throw GraphError(fmt::format("{}: which rows are moved is not known without '{}'; give its values",
                                   describe(k.op()), k.in_tensor(1).name));
  const std::int32_t *indices = k.index_in(1);
  for (std::size_t i = 0; i < k.in_shape(1).elements(); ++i)
    if (indices[i] < 0 || static_cast<std::size_t>(indices[i]) >= along)
      throw GraphError(fmt::format("{}: index {} at position {} of '{}' is none of 0 to {}", describe(k.op()),
                                   indices[i], i, k.in_tensor(1).name, along - 1));
  return indices;
}

/// How many positions from `begin` on have indices that each are `step` more than the one before.
std::size_t run_of(const std::int32_t *indices, std::size_t begin, std::size_t end, std::int32_t step) {
  std::size_t length = 1;
  while (begin + length < end && indices[begin + length] == indices[begin + length - 1] + step)
    ++length;
  return length;
}

struct GatherRun {
  template <class A> static void run(Kernel<A> &k) {
    const GatherSizes s = gather_sizes(k.attributes(), k.in_shape(0), k.in_shape(1));
    const std::int32_t *indices = checked_indices(k, s.along);
    for (std::size_t o = 0; o < s.outer; ++o)
      for (std::size_t i = 0, length = 0; i < s.count; i += length) {
        length = run_of(indices, i, s.count, 1);
        const std::size_t from = (o * s.along + static_cast<std::size_t>(indices[i])) * s.inner;
        const std::size_t to = (o * s.count + i) * s.inner;
        move_rows(k, {{1}, length * s.inner, {input(0), {}, {0}, from}, {output(0), {}, {0}, to}});
      }
  }
};

struct GatherGradientRun {
  /// Inputs: dY, indices, and an initial value, with whose chains an earlier micro-batch's go on (N9). Positions ascend
  /// within each element: those of one index that follow each other are a chain, and those of indices that follow each
  /// other are of different elements.
  template <class A> static void run(Kernel<A> &k) {
    const GatherSizes s = gather_sizes(k.attributes(), k.out_shape(0), k.in_shape(1));
    const std::int32_t *indices = checked_indices(k, s.along);
    if (k.has_in(2))
      move_rows(k, {{1}, k.out_shape(0).elements(), {input(2), {}, {0}, 0}, {output(0), {}, {0}, 0}});
    else
      fill_elements(k, output(0), k.out_shape(0).elements(), number<A>(0));
    for (std::size_t o = 0; o < s.outer; ++o)
      for (std::size_t i = 0, length = 0; i < s.count; i += length) {
        const std::size_t chain = run_of(indices, i, s.count, 0);
        length = chain > 1 ? chain : run_of(indices, i, s.count, 1);
        const std::size_t lanes = chain > 1 ? s.inner : length * s.inner;
        LineWalk walk = columns_as_lanes(chain, lanes);
        const std::size_t to = (o * s.along + static_cast<std::size_t>(indices[i])) * s.inner;
        walk.in = {strided(output(0), 1, 0, to), strided(input(0), 1, s.inner, (o * s.count + i) * s.inner)};
        walk.out = {walk.in[0]};
        walk_lines(k, walk, 2, [](auto &lines) {
          auto sum = lines.variable(0);
          lines.once([&](const auto &at) { sum(at) = at.in(0); });
          lines.loop([&](const auto &at) { sum(at) = A::add(sum(at), at.in(1)); });
          lines.once([&](const auto &at) { at.out(0, sum(at)); });
        });
      }
  }
};

Shape gathered(const Inference &op, const Shape &x, const Shape &indices) {
  const std::int64_t rank = static_cast<std::int64_t>(x.rank()), axis = op.attributes().integer("axis");
  if (axis < -rank || axis >= rank)
    op.fail(fmt::format("axis {} is none of {}, whose axes are {} to {}", axis, x.text(), -rank, rank - 1));
  const std::size_t at = gather_axis(op.attributes(), x.rank());
  std::vector<std::uint32_t> dims(x.dims().begin(), x.dims().begin() + static_cast<std::ptrdiff_t>(at));
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), x.dims().begin() + static_cast<std::ptrdiff_t>(at) + 1, x.dims().end());
  return Shape(std::move(dims));
}

void infer_gather(Inference &op) { op.set(0, gathered(op, op.shape(0), op.shape(1))); }

void infer_gather_gradient(Inference &op) {
  const Shape x = shape_attribute(op, "shape"), dy = gathered(op, x, op.shape(1));
  op.require(op.shape(0) == dy, "dy is " + op.shape(0).text() + "; of x " + x.text() + " and indices " +
                                    op.shape(1).text() + " it must be " + dy.text());
  op.require(!op.has(2) || op.shape(2) == x, "the initial value must be of the result's shape, " + x.text());
  op.set(0, x);
}

void derive_gather(Derivation &d) {
  d.give(0, d.build.add("GatherGradient", {d.gradient(), d.input(1)},
                        {{"axis", d.attributes().integer("axis")}, {"shape", numbers_of(d.shape(0))}}, d.name(0)));
}

} // namespace

std::vector<Operator> gather_operators() {
  const AttributeSpec axis{"axis", AttributeKind::kInteger, std::int64_t{0}, "along which indices choose"};
  Operator gather;
  gather.name = "Gather";
  gather.summary = "the slices of x that indices name; of a table, rows";
  gather.inputs = {{"x"}, {"indices", Takes::kIndex}};
  gather.outputs = {{"y", Gives::kAsInput}};
  gather.attributes = {axis};
  gather.infer = infer_gather;
  gather.derive = derive_gather;
  gather.operations = no_operations;
  gather.lower = walks<Walk::kGather>;
  executes<GatherRun>(gather);

  Operator gradient;
  gradient.name = "GatherGradient";
  gradient.summary = "dy added where indices say, positions ascending, from the initial value";
  gradient.inputs = {{"dy"}, {"indices", Takes::kIndex}, {"initial", Takes::kFp32, true}};
  gradient.outputs = {{"dx", Gives::kFp32}};
  gradient.attributes = {axis, {"shape", AttributeKind::kIntegers, {}, "of x"}};
  gradient.infer = infer_gather_gradient;
  gradient.operations = operations_per_input<1>;
  gradient.lower = walks<Walk::kScatter>;
  executes<GatherGradientRun>(gradient);
  return {gather, gradient};
}

} // namespace gradweave::graph
