// Elements and slices that known indices name. Each is a Gather of rows: scattered ones of the data and the updates,
// one behind the other.
#include "graph/onnx/fold/fold.hpp"
#include "graph/onnx/nodes/compose.hpp"
#include "graph/onnx/nodes/importers.hpp"
#include "graph/onnx/nodes/reshape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace gradweave::graph::onnx {
namespace {

/// Whole numbers of an input, which must not depend on the data, and its shape.
Literal known_indices(const NodeImport &node, std::size_t input) {
  Literal known = node.literal(input, "indices");
  if (known.is_real()) node.fail(fmt::format("indices '{}' are real numbers", node.in(input).name));
  if (known.whole.empty()) node.fail(fmt::format("indices '{}' are none", node.in(input).name));
  return known;
}

std::int64_t checked_index(const NodeImport &node, std::int64_t index, std::int64_t size, std::size_t axis) {
  if (index < -size || index >= size)
    node.fail(fmt::format("index {} is none of the {} of dimension {}", index, size, axis));
  return index < 0 ? index + size : index;
}

/// For GatherND and ScatterND: which slice of x, of all dimensions behind those that an index names, each index means.
struct Slices {
  std::int64_t length; ///< elements of a slice
  Dims which;
};
Slices slices_of(const NodeImport &node, const Dims &x, const Literal &indices, std::int64_t batch_dims) {
  const auto batch = static_cast<std::size_t>(batch_dims);
  const std::size_t named = indices.dims.empty() ? 0 : static_cast<std::size_t>(indices.dims.back());
  if (named == 0 || batch_dims < 0 || batch + named > x.size() || batch >= indices.dims.size())
    node.fail(fmt::format("indices {} do not fit {}", text_of(indices.dims), text_of(x)));
  const auto from = x.begin() + static_cast<std::ptrdiff_t>(batch + named);
  Slices slices{product_of({from, x.end()}), {}};
  const Dims front(indices.dims.begin(), indices.dims.begin() + batch_dims);
  const std::size_t tuples = indices.whole.size() / named,
                    a_batch = tuples / static_cast<std::size_t>(product_of(front));
  for (std::size_t t = 0; t < tuples; ++t) {
    std::int64_t slice = static_cast<std::int64_t>(t / a_batch);
    for (std::size_t i = 0; i < named; ++i)
      slice = slice * x[batch + i] + checked_index(node, indices.whole[t * named + i], x[batch + i], batch + i);
    slices.which.push_back(slice);
  }
  return slices;
}

/// For GatherElements and ScatterElements: which element of x each index means.
Dims elements_of(const NodeImport &node, const Dims &x, const Literal &indices, std::size_t axis) {
  bool fits = indices.dims.size() == x.size();
  for (std::size_t d = 0; fits && d < x.size(); ++d)
    fits = d == axis || indices.dims[d] <= x[d];
  if (!fits) node.fail(fmt::format("indices {} do not fit {}", text_of(indices.dims), text_of(x)));
  const Dims steps = steps_of(x);
  Dims elements;
  const std::vector<std::size_t> others = [&] {
    Dims of_others = steps;
    of_others[axis] = 0;
    return places(indices.dims, of_others);
  }();
  for (std::size_t i = 0; i < others.size(); ++i)
    elements.push_back(static_cast<std::int64_t>(others[i]) +
                       checked_index(node, indices.whole[i], x[axis], axis) * steps[axis]);
  return elements;
}

TensorId as_rows(NodeImport &node, const Value &x, std::int64_t length) {
  const Dims rows{product_of(x.dims) / length, length};
  const TensorId tensor = node.place.plain(x);
  return numbers(node.build.shape(tensor)) == rows ? tensor : node.step("Reshape", {tensor}, {{"shape", rows}}, "rows");
}

void give_rows(NodeImport &node, TensorId rows, const Dims &dims) {
  node.give(node.last("Reshape", {rows}, {{"shape", dims}}), plain_order(dims.size()));
}

struct Joining {
  std::string_view reduction, op;
  double neutral;
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Joining kJoinings[] = {
    {"add", "Add", 0}, {"mul", "Mul", 1}, {"max", "Max", -kInfinity}, {"min", "Min", kInfinity}};

/// x with `updates`, slice by slice, where `which` says; the last one of those that meet, or all joined by an operator,
/// ascending.
void give_scattered(NodeImport &node, const Value &x, const Value &updates, std::int64_t length, const Dims &which) {
  if (product_of(updates.dims) != static_cast<std::int64_t>(which.size()) * length)
    node.fail(fmt::format("updates '{}' are {}; the indices name {} slices of {} elements", updates.name,
                          text_of(updates.dims), which.size(), length));
  const TensorId data = as_rows(node, x, length), given = as_rows(node, updates, length);
  const std::int64_t rows = product_of(x.dims) / length;
  const std::string how = node.text("reduction", "none");
  if (how == "none") {
    Dims from(static_cast<std::size_t>(rows));
    for (std::int64_t row = 0; row < rows; ++row)
      from[static_cast<std::size_t>(row)] = row;
    for (std::size_t u = 0; u < which.size(); ++u)
      from[static_cast<std::size_t>(which[u])] = rows + static_cast<std::int64_t>(u);
    const TensorId both = node.step("Concat", {data, given}, {{"axis", std::int64_t{0}}}, "both");
    return give_rows(node, taken_along(node, both, 0, from, false), x.dims);
  }
  const auto *const joining =
      std::find_if(std::begin(kJoinings), std::end(kJoinings), [&](const Joining &j) { return j.reduction == how; });
  if (joining == std::end(kJoinings))
    node.fail(fmt::format("attribute 'reduction' = '{}' is not known; none, add, mul, max and min are", how));
  const TensorId nothing =
      node.build.constant(node.build.fresh(node.name() + ".neutral"), shape_of(node.build, node.name(), {1, length}),
                          {joining->neutral}, ElementType::kFp32);
  const TensorId both = node.step("Concat", {given, nothing}, {{"axis", std::int64_t{0}}}, "both");
  // The first update of each slice, then the second one of those that have one, ...
  std::vector<Dims> turns;
  std::vector<std::size_t> seen(static_cast<std::size_t>(rows), 0);
  for (std::size_t u = 0; u < which.size(); ++u) {
    const auto row = static_cast<std::size_t>(which[u]);
    if (seen[row] == turns.size()) turns.emplace_back(seen.size(), static_cast<std::int64_t>(which.size()));
    turns[seen[row]++][row] = static_cast<std::int64_t>(u);
  }
  TensorId y = data;
  for (const Dims &turn : turns)
    y = node.step(joining->op, {y, taken_along(node, both, 0, turn, false)});
  give_rows(node, y, x.dims);
}

} // namespace

void import_gather_elements(NodeImport &node) {
  const Value &x = node.real_in(0);
  const std::size_t axis = node.axis(node.integer("axis", 0), x.rank());
  const Literal indices = known_indices(node, 1);
  const Dims elements = elements_of(node, x.dims, indices, axis);
  give_rows(node, taken_along(node, as_rows(node, x, 1), 0, elements, false), indices.dims);
}

void import_gather_nd(NodeImport &node) {
  const Value &x = node.real_in(0);
  const Literal indices = known_indices(node, 1);
  const std::int64_t batch = node.integer("batch_dims", 0);
  const Slices slices = slices_of(node, x.dims, indices, batch);
  Dims dims(indices.dims.begin(), indices.dims.end() - 1);
  dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(batch + indices.dims.back()), x.dims.end());
  give_rows(node, taken_along(node, as_rows(node, x, slices.length), 0, slices.which, false), dims);
}

void import_scatter_nd(NodeImport &node) {
  const Value &x = node.real_in(0);
  const Slices slices = slices_of(node, x.dims, known_indices(node, 1), 0);
  give_scattered(node, x, node.real_in(2), slices.length, slices.which);
}

void import_scatter_elements(NodeImport &node) {
  const Value &x = node.real_in(0);
  const std::size_t axis = node.axis(node.integer("axis", 0), x.rank());
  give_scattered(node, x, node.real_in(2), 1, elements_of(node, x.dims, known_indices(node, 1), axis));
}

} // namespace gradweave::graph::onnx
