// Reshape and Flatten: other dimensions for the same elements.
#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/move_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph {
namespace {

struct ReshapeRun {
  template <class A> static void run(Kernel<A> &k) {
    move_rows(k, {{1}, k.out_shape(0).elements(), {input(0), {}, {0}, 0}, {output(0), {}, {0}, 0}});
  }
};

void infer_reshape(Inference &op) {
  const Shape &x = op.shape(0);
  const std::vector<std::int64_t> &asked = op.attributes().integers("shape");
  const auto refuse = [&] {
    op.fail(
        fmt::format("{} elements of {} cannot become {}; 0 keeps a dimension, and at most one -1 stands for what is "
                    "left",
                    x.elements(), x.text(), to_string(Attribute(asked))));
  };
  std::vector<std::uint32_t> dims;
  std::size_t known = 1, open = asked.size();
  for (std::size_t axis = 0; axis < asked.size(); ++axis) {
    const bool kept = asked[axis] == 0 && axis < x.rank();
    const std::int64_t dim = kept ? x[axis] : asked[axis] == -1 && open == asked.size() ? 1 : asked[axis];
    if (dim < 1 || dim > UINT32_MAX || known > x.elements() / static_cast<std::size_t>(dim)) refuse();
    if (asked[axis] == -1) open = axis;
    known *= static_cast<std::size_t>(dim);
    dims.push_back(static_cast<std::uint32_t>(dim));
  }
  const std::size_t left = x.elements() / known;
  if (left * known != x.elements() || (open == asked.size() && left != 1) || left > UINT32_MAX) refuse();
  if (open != asked.size()) dims[open] = static_cast<std::uint32_t>(left);
  op.set(0, Shape(std::move(dims)));
}

void infer_flatten(Inference &op) {
  const Shape &x = op.shape(0);
  std::int64_t axis = op.attributes().integer("axis");
  const auto rank = static_cast<std::int64_t>(x.rank());
  op.require(axis >= -rank && axis <= rank,
             fmt::format("attribute 'axis' = {} must be from {} to {} for x {}", axis, -rank, rank, x.text()));
  if (axis < 0) axis += rank;
  const auto at = static_cast<std::size_t>(axis);
  op.require(x.count(0, at) <= UINT32_MAX && x.count(at, x.rank()) <= UINT32_MAX,
             x.text() + " has too many elements for a matrix");
  op.set(0, {static_cast<std::uint32_t>(x.count(0, at)), static_cast<std::uint32_t>(x.count(at, x.rank()))});
}

/// Of both: back to the shape of x.
void derive_reshape(Derivation &d) {
  const std::vector<std::uint32_t> &dims = d.shape(0).dims();
  d.give(0, d.build.add("Reshape", {d.gradient()}, {{"shape", std::vector<std::int64_t>(dims.begin(), dims.end())}},
                        d.name(0)));
}

Operator reshape_entry(std::string_view name, std::string_view summary, AttributeSpec attribute,
                       void (*infer)(Inference &)) {
  Operator op;
  op.name = name;
  op.summary = summary;
  op.inputs = {{"x"}};
  op.outputs = {{"y", Gives::kAsInput}};
  op.attributes = {std::move(attribute)};
  op.infer = infer;
  op.derive = derive_reshape;
  op.operations = no_operations;
  op.lower = walks<Walk::kMove>;
  executes<ReshapeRun>(op);
  return op;
}

} // namespace

std::vector<Operator> reshape_operators() {
  return {reshape_entry("Reshape", "the elements of x in other dimensions",
                        {"shape", AttributeKind::kIntegers, {}, "the dimensions; 0 keeps one, -1 is what is left"},
                        infer_reshape),
          reshape_entry("Flatten", "x as a matrix: dimensions before the axis are rows, the others columns",
                        {"axis", AttributeKind::kInteger, std::int64_t{1}, "the first dimension of the columns"},
                        infer_flatten)};
}

} // namespace gradweave::graph
