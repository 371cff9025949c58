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
template <class A> void check_indices(const Kernel<A> &k, std::size_t along) {
  const std::int32_t *indices = k.index_in(1);
  for (std::size_t i = 0; i < k.in_shape(1).elements(); ++i)
    if (indices[i] < 0 || static_cast<std::size_t>(indices[i]) >= along)
      throw GraphError(fmt::format("{}: index {} at position {} of '{}' is none of 0 to {}", describe(k.op()),
                                   indices[i], i, k.in_tensor(1).name, along - 1));
}

struct GatherRun {
  template <class A> static void run(Kernel<A> &k) {
    const GatherSizes s = gather_sizes(k.attributes(), k.in_shape(0), k.in_shape(1));
    check_indices(k, s.along);
    const std::int32_t *indices = k.index_in(1);
    k.parallel(s.outer * s.count, s.inner, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto index = static_cast<std::size_t>(indices[i % s.count]);
        std::copy_n(k.in(0) + (i / s.count * s.along + index) * s.inner, s.inner, k.out(0) + i * s.inner);
      }
    });
  }
};

struct GatherGradientRun {
  /// Inputs: dY, indices, and an initial value, with whose chains an earlier micro-batch's go on (N9).
  template <class A> static void run(Kernel<A> &k) {
    const GatherSizes s = gather_sizes(k.attributes(), k.out_shape(0), k.in_shape(1));
    check_indices(k, s.along);
    if (k.has_in(2)) std::copy_n(k.in(2), k.out_shape(0).elements(), k.out(0));
    const std::int32_t *indices = k.index_in(1);
    // Positions ascend within each element; threads have columns of their own.
    k.parallel(s.inner, s.outer * s.count, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = 0; i < s.outer * s.count; ++i) {
        const auto index = static_cast<std::size_t>(indices[i % s.count]);
        auto *sum = k.out(0) + (i / s.count * s.along + index) * s.inner;
        const auto *dy = k.in(0) + i * s.inner;
        for (std::size_t c = begin; c < end; ++c)
          sum[c] = A::add(sum[c], dy[c]);
      }
    });
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
