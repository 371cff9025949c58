// Concat and Split: tensors side by side along an axis, and one cut into such; each is the other's gradient.
#include "graph/operators/move/block.hpp"

#include <fmt/format.h>

#include <numeric>

namespace gradweave::graph {
namespace {

/// An axis as checked attributes have it.
std::size_t join_axis(const Attributes &attributes, std::size_t rank) {
  const std::int64_t axis = attributes.integer("axis");
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

/// A part of a whole along an axis, as the two matrices that they are: what lies before the axis are rows.
struct JoinedPart {
  std::size_t rows, part_cols, whole_cols;
};

JoinedPart joined_part(const Shape &part, const Shape &whole, std::size_t axis) {
  return {whole.count(0, axis), part.count(axis, part.rank()), whole.count(axis, whole.rank())};
}

struct ConcatRun {
  template <class A> static void run(Kernel<A> &k) {
    const std::size_t axis = join_axis(k.attributes(), k.out_shape(0).rank());
    std::size_t offset = 0;
    for (std::size_t i = 0; i < k.inputs(); ++i) {
      const JoinedPart p = joined_part(k.in_shape(i), k.out_shape(0), axis);
      move_block(k, {{p.rows, p.part_cols}, {p.part_cols, 1}, {p.whole_cols, 1}, 0, offset}, input(i), output(0));
      offset += p.part_cols;
    }
  }
};

struct SplitRun {
  template <class A> static void run(Kernel<A> &k) {
    const std::size_t axis = join_axis(k.attributes(), k.in_shape(0).rank());
    std::size_t offset = 0;
    for (std::size_t o = 0; o < k.outputs(); ++o) {
      const JoinedPart p = joined_part(k.out_shape(o), k.in_shape(0), axis);
      move_block(k, {{p.rows, p.part_cols}, {p.whole_cols, 1}, {p.part_cols, 1}, offset, 0}, input(0), output(o));
      offset += p.part_cols;
    }
  }
};

void infer_concat(Inference &op) {
  const std::size_t axis = op.axis(op.attributes().integer("axis"));
  Shape whole = op.shape(0);
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    Shape part = op.shape(i);
    const bool fits = part.rank() == whole.rank();
    if (fits) {
      length += part[axis];
      part.set(axis, whole[axis]);
    }
    if (!fits || part != whole)
      op.fail(fmt::format("input 0 is {} and input {} {}; they may differ along axis {} only", op.shape(0).text(), i,
                          op.shape(i).text(), axis));
  }
  op.require(length <= UINT32_MAX,
             fmt::format("the result has {} elements along axis {}; there can be 2^32", length, axis));
  whole.set(axis, static_cast<std::uint32_t>(length));
  op.set(0, whole);
}

void infer_split(Inference &op) {
  const std::size_t axis = op.axis(op.attributes().integer("axis"));
  const std::vector<std::int64_t> &sizes = op.attributes().integers("split");
  const Shape &x = op.shape(0);
  std::int64_t sum = 0;
  bool positive = true;
  for (const std::int64_t size : sizes) {
    positive = positive && size > 0 && size <= UINT32_MAX;
    sum += positive ? size : 0;
  }
  if (!positive || sum != x[axis])
    op.fail(fmt::format("attribute 'split' = {} must be positive and have the sum {}, x {} along axis {}",
                        to_string(Attribute(sizes)), x[axis], x.text(), axis));
  op.require(sizes.size() == op.outputs(), fmt::format("attribute 'split' = {} has {} sizes for {} outputs",
                                                       to_string(Attribute(sizes)), sizes.size(), op.outputs()));
  for (std::size_t o = 0; o < sizes.size(); ++o) {
    Shape part = x;
    part.set(axis, static_cast<std::uint32_t>(sizes[o]));
    op.set(o, part);
  }
}

void derive_concat(Derivation &d) {
  const std::size_t axis = join_axis(d.attributes(), d.shape(0).rank());
  const std::size_t inputs = d.op().inputs.size();
  if (inputs == 1) return d.give(0, d.gradient());
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < inputs; ++i)
    sizes.push_back(d.shape(i)[axis]);
  const std::vector<TensorId> parts = d.build.add_all(
      "Split", {d.gradient()}, {{"axis", static_cast<std::int64_t>(axis)}, {"split", sizes}}, d.name(0), inputs);
  for (std::size_t i = 0; i < inputs; ++i)
    d.give(i, parts[i]);
}

void derive_split(Derivation &d) {
  std::vector<TensorId> parts;
  for (std::size_t o = 0; o < d.op().outputs.size(); ++o)
    parts.push_back(d.gradient(o) != kNone
                        ? d.gradient(o)
                        : d.build.constant(d.build.fresh("d(" + d.build.tensor(d.output(o)).name + ")"),
                                           d.build.shape(d.output(o)), {0.0}));
  d.give(0, d.build.add("Concat", parts, {{"axis", d.attributes().integer("axis")}}, d.name(0)));
}

/// The same of int32 tensors, which no gradient goes through.
template <class Run> Operator of_whole_numbers(Operator op, std::string_view name) {
  op.name = name;
  op.inputs.front().takes = Takes::kIndex;
  op.outputs.front().gives = Gives::kIndex;
  op.derive = nullptr;
  executes<Run>(op);
  return op;
}

} // namespace

std::vector<Operator> concat_operators() {
  Operator concat;
  concat.name = "Concat";
  concat.summary = "tensors side by side along an axis";
  concat.inputs = {{"x"}};
  concat.variadic = true;
  concat.outputs = {{"y", Gives::kAsInput}};
  concat.attributes = {{"axis", AttributeKind::kInteger, {}, "along which they may differ"}};
  concat.infer = infer_concat;
  concat.derive = derive_concat;
  concat.operations = no_operations;
  concat.lower = walks<Walk::kMove>;
  executes<ConcatRun>(concat);

  Operator split;
  split.name = "Split";
  split.summary = "x cut into parts along an axis";
  split.inputs = {{"x"}};
  split.outputs = {{"y", Gives::kAsInput}};
  split.splits = true;
  split.attributes = {{"axis", AttributeKind::kInteger, {}, "along which x is cut"},
                      {"split", AttributeKind::kIntegers, {}, "the sizes of the parts"}};
  split.infer = infer_split;
  split.derive = derive_split;
  split.operations = no_operations;
  split.lower = walks<Walk::kMove>;
  executes<SplitRun>(split);
  return {concat, split, of_whole_numbers<ConcatRun>(concat, "ConcatIndices"),
          of_whole_numbers<SplitRun>(split, "SplitIndices")};
}

} // namespace gradweave::graph
