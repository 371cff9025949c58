// Places of largest elements, and masks of what indices name.
#include "graph/onnx/nodes/compose.hpp"
#include "graph/onnx/nodes/importers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

namespace gradweave::graph::onnx {
namespace {

using Names = std::vector<std::string>;

constexpr std::int64_t kMostChosen = 128; ///< each is a few ops over all of x

std::int64_t number_of(const NodeImport &node, std::size_t input, std::string_view what) {
  const Literal known = node.literal(input, what);
  if (known.size() != 1 || known.number(0) != std::floor(known.number(0)))
    node.fail(fmt::format("input {} '{}', {}, must be a single whole number", input, node.in(input).name, what));
  return static_cast<std::int64_t>(known.number(0));
}

} // namespace

/// One whose condition is known has been replaced by its branch.
void import_if(NodeImport &node) {
  const Value &condition = node.in(0);
  const Names inputs = condition.host == nullptr ? Names{} : inputs_of(*condition.host);
  node.fail(fmt::format(
      "its condition '{}' depends on {}, and only a branch that is known when the file is read is "
      "taken; export without control flow{}",
      condition.name, inputs.empty() ? "the data" : fmt::format("the input '{}'", fmt::join(inputs, "', '")),
      inputs.empty() ? "" : fmt::format(", or give an input that is one number: --set net.{}=NUMBER", inputs.front())));
}

void import_arg_max(NodeImport &node) { // ArgMin, too: of negatives
  const Own x = own_plain(node);
  if (x.like.rank() == 0) node.fail("input is a single number");
  const std::size_t axis = node.axis(node.integer("axis", 0), x.like.rank());
  const bool keeps = node.integer("keepdims", 1) != 0;
  const TensorId tensor = node.is("ArgMin") ? node.step("Neg", {x.tensor}) : x.tensor;
  const TensorId y = node.last("ArgMax", {tensor},
                               {{"axis", static_cast<std::int64_t>(place_in(x.like.order, axis))},
                                {"keepdims", std::int64_t{keeps}},
                                {"select_last_index", node.integer("select_last_index", 0)}});
  node.give(y, keeps ? x.like.order : without_axis(x.like.order, axis));
}

void import_top_k(NodeImport &node) {
  const Own x = own_plain(node);
  const std::size_t axis = node.axis(node.integer("axis", -1), x.like.rank());
  const std::int64_t k = node.opset() >= 10 ? number_of(node, 1, "k") : node.integer("k", 0);
  if (k < 1 || k > x.like.dims[axis] || k > kMostChosen)
    node.fail(
        fmt::format("k = {} of dimension {} of {}: 1 to {} are taken", k, axis, text_of(x.like.dims), kMostChosen));
  const auto place = static_cast<std::int64_t>(place_in(x.like.order, axis));
  const bool largest = node.integer("largest", 1) != 0;
  const TensorId lowest = scalar(node, -std::numeric_limits<double>::infinity());
  TensorId left = largest ? x.tensor : node.step("Neg", {x.tensor});
  std::vector<TensorId> values, places;
  for (std::int64_t i = 0; i < k; ++i) {
    if (node.wants(1)) places.push_back(node.step("ArgMax", {left}, {{"axis", place}}, "place"));
    values.push_back(node.step("ReduceMax", {left}, {{"axes", Dims{place}}}, "largest"));
    if (i + 1 == k) break;
    const TensorId found = node.step("ArgMax", {left}, {{"axis", place}, {"keepdims", std::int64_t{0}}}, "found");
    const TensorId taken = node.step("OneHot", {found}, {{"depth", x.like.dims[axis]}, {"axis", place}}, "taken");
    left = node.step("Where", {taken, lowest, left}, {}, "left");
  }
  const Attributes along{{"axis", place}};
  const auto joined = [&](std::string_view op, const std::vector<TensorId> &parts) {
    return parts.size() == 1 ? parts[0] : node.step(op, parts, along);
  };
  if (node.wants(0)) {
    const TensorId all = joined("Concat", values);
    node.give(largest ? all : node.last("Neg", {all}), x.like.order);
  }
  if (node.wants(1)) node.give(joined("ConcatIndices", places), x.like.order, 1);
}

void import_one_hot(NodeImport &node) {
  const Value &indices = node.in(0);
  if (indices.kind != Kind::kWhole)
    node.fail(fmt::format("input 0 '{}' has {}; whole numbers are wanted", indices.name, to_string(indices.kind)));
  const std::int64_t depth = number_of(node, 1, "depth");
  const Literal values = node.literal(2, "values");
  if (values.size() != 2) node.fail(fmt::format("input 2 '{}' must be two numbers", node.in(2).name));
  const std::size_t axis = node.axis(node.integer("axis", -1), indices.rank() + 1);
  const Attributes along{{"depth", depth}, {"axis", static_cast<std::int64_t>(axis)}, {"wraps", std::int64_t{1}}};
  const std::vector<TensorId> places{node.place.plain(indices)};
  const bool plain = values.number(0) == 0 && values.number(1) == 1;
  if (!values.is_real() && !plain)
    node.fail(fmt::format("input 2 '{}' has whole numbers other than 0 and 1", node.in(2).name));
  const Order order = plain_order(indices.rank() + 1);
  if (!values.is_real()) return node.give(node.last("OneHot", places, along), order);
  const TensorId mask = node.step("OneHot", places, along);
  node.give(node.last("Where", {mask, scalar(node, values.number(1)), scalar(node, values.number(0))}), order);
}

void import_trilu(NodeImport &node) {
  const Value &x = node.real_in(0);
  if (x.rank() < 2) node.fail(fmt::format("input '{}' is {}; it must have rows and columns", x.name, text_of(x.dims)));
  const std::int64_t diagonal = node.has_input(1) ? number_of(node, 1, "k") : 0;
  const bool upper = node.integer("upper", 1) != 0;
  std::vector<double> mask;
  for (std::int64_t row = 0; row < x.back(1); ++row)
    for (std::int64_t col = 0; col < x.back(); ++col)
      mask.push_back((upper ? col - row >= diagonal : col - row <= diagonal) ? 1 : 0);
  const TensorId kept =
      node.build.constant(node.build.fresh(node.name() + ".kept"), shape_of(node.build, x.name, {x.back(1), x.back()}),
                          std::move(mask), ElementType::kInt32);
  node.give(node.last("Where", {kept, node.place.plain(x), scalar(node, 0)}), plain_order(x.rank()));
}

} // namespace gradweave::graph::onnx
