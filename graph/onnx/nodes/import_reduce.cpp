// Sums, means and maxima over dimensions.
#include "graph/onnx/nodes/importers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph::onnx {
namespace {

/// Which operators take their axes from an input, from which opset on.
bool axes_are_input(const NodeImport &node) { return node.is("ReduceSum") ? node.opset() >= 13 : node.opset() >= 18; }

} // namespace

void import_reduce(NodeImport &node) {
  const Value &x = node.real_in(0);
  const Dims asked = axes_are_input(node) && node.has_input(1) ? node.list(1, "axes", {}) : node.integers("axes", {});
  if (asked.empty() && node.integer("noop_with_empty_axes", 0) != 0) return node.give(x);
  std::vector<std::size_t> axes = node.axes(asked, x.rank());
  if (asked.empty()) axes = plain_order(x.rank());
  const bool keeps = node.integer("keepdims", 1) != 0;
  const Order order = x.tensor == kNone || x.channels != 0 ? plain_order(x.rank()) : x.order;
  Dims places;
  Order left = order;
  for (const std::size_t axis : axes)
    places.push_back(static_cast<std::int64_t>(place_in(order, axis)));
  std::sort(places.begin(), places.end());
  if (!keeps)
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
      left = without_axis(left, *axis);
  const TensorId tensor = node.place.in_order(x, order);
  if (axes.empty()) return node.give(x);
  const Attributes attributes{{"axes", places}, {"keepdims", std::int64_t{keeps}}};
  if (!node.is("ReduceMin")) return node.give(node.last(node.node().type, {tensor}, attributes), left);
  const TensorId highest = node.step("ReduceMax", {node.step("Neg", {tensor})}, attributes);
  node.give(node.last("Neg", {highest}), left);
}

} // namespace gradweave::graph::onnx
