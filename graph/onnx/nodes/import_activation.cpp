// Activation functions and softmax.
#include "graph/onnx/nodes/compose.hpp"
#include "graph/onnx/nodes/importers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace gradweave::graph::onnx {
void import_leaky_relu(NodeImport &node) { node.each("LeakyRelu", {{"alpha", node.real("alpha", 0.01)}}); }

void import_prelu(NodeImport &node) {
  const Own x = own(node);
  const Value &slope = node.real_in(1);
  if (broadcast_dims(node, x.like.dims, slope.dims) != x.like.dims)
    node.fail(fmt::format("slope '{}' is {}, more than input '{}', {}", slope.name, text_of(slope.dims), x.like.name,
                          text_of(x.like.dims)));
  const TensorId positive = node.step("Relu", {x.tensor});
  const TensorId negative = node.step("Relu", {node.step("Neg", {x.tensor})}, {}, "below");
  const TensorId bent = node.step("Mul", {negative, node.place.beside(slope, x.like.order)}, {}, "bent");
  node.give_like(node.last("Sub", {positive, bent}), x.like);
}

void import_hard_sigmoid(NodeImport &node) { // min(max(alpha x + beta, 0), 1)
  const Own x = own(node);
  const TensorId scaled = node.step("Scale", {x.tensor}, {{"value", node.real("alpha", 0.2)}});
  const TensorId moved = node.step("Add", {scaled, scalar(node, node.real("beta", 0.5))});
  node.give_like(node.last("Clip", {moved}, {{"min", 0.0}, {"max", 1.0}}), x.like);
}

void import_hard_swish(NodeImport &node) { node.each("HardSwish"); }

void import_mish(NodeImport &node) {
  const Own x = own(node);
  node.give_like(node.last("Mul", {x.tensor, node.step("Tanh", {node.step("Softplus", {x.tensor})})}), x.like);
}

void import_gelu(NodeImport &node) { node.each("Gelu", {{"approximate", node.text("approximate", "none")}}); }

void import_clip(NodeImport &node) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  const double low = std::max(node.number(1, "min", -kLargest), -kLargest);
  const double high = std::min(node.number(2, "max", kLargest), kLargest);
  if (low == -kLargest && high == kLargest) return node.give(node.real_in(0));
  node.each("Clip", {{"min", low}, {"max", high}});
}

namespace {

/// Input 0 with the axis last, or, in older opsets, all dimensions from the axis on as one; how it goes back.
struct Row {
  TensorId tensor;
  Order order;    ///< of the result
  Dims flattened; ///< the shape to go back to; empty: none
};

Row row_of(NodeImport &node) {
  const Value &x = node.real_in(0);
  const bool old = node.opset() < 13;
  const std::size_t axis = node.axis(node.integer("axis", old ? 1 : -1), std::max<std::size_t>(1, x.rank()));
  if (x.rank() == 0) node.fail("input is a single number");
  if (old && axis + 1 < x.rank() &&
      product_of({x.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.dims.end()}) != 1) {
    const Dims before(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis));
    const TensorId plain = node.place.plain(x);
    const Dims matrix{product_of(before), product_of(x.dims) / product_of(before)};
    return {node.step("Reshape", {plain}, {{"shape", matrix}}, "matrix"), plain_order(x.rank()), x.dims};
  }
  Order order = x.tensor == kNone || x.channels != 0 ? plain_order(x.rank()) : x.order;
  order.erase(std::find(order.begin(), order.end(), axis));
  order.push_back(axis);
  return {node.place.in_order(x, order), order, {}};
}

void give_row(NodeImport &node, const Row &row, std::string_view op, const std::vector<TensorId> &inputs) {
  if (row.flattened.empty()) return node.give(node.last(op, inputs), row.order);
  const TensorId matrix = node.step(op, inputs);
  node.give(node.last("Reshape", {matrix}, {{"shape", row.flattened}}), row.order);
}

} // namespace

void import_softmax(NodeImport &node) {
  const Row row = row_of(node);
  give_row(node, row, "Softmax", {row.tensor});
}

Call log_softmax_call(NodeImport &node, TensorId rows) {
  const Attributes last{{"axes", Dims{-1}}};
  const TensorId highest = node.step("ReduceMax", {rows}, last);
  const TensorId below = node.step("Sub", {rows, highest}, {}, "below");
  const TensorId sum = node.step("ReduceSum", {node.step("Exp", {below})}, last);
  return {"Sub", {below, node.step("Log", {sum})}};
}

void import_log_softmax(NodeImport &node) {
  const Row row = row_of(node);
  const Call call = log_softmax_call(node, row.tensor);
  give_row(node, row, call.op, call.inputs);
}

void import_hardmax(NodeImport &node) {
  const Row row = row_of(node);
  const TensorId place = node.step("ArgMax", {row.tensor}, {{"axis", std::int64_t{-1}}, {"keepdims", std::int64_t{0}}});
  const auto width = static_cast<std::int64_t>(node.build.shape(row.tensor).cols());
  give_row(node, row, "Where", {node.step("OneHot", {place}, {{"depth", width}}), scalar(node, 1), scalar(node, 0)});
}

} // namespace gradweave::graph::onnx
