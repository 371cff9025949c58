// What importers compose a node of: ops on one tensor whose elements keep their places, and numbers.
#pragma once

#include "graph/onnx/value/node_import.hpp"

namespace gradweave::graph::onnx {

/// A tensor of an input in an order of its own, and what its elements are like.
struct Own {
  TensorId tensor;
  Value like;
};
/// Fails unless the input is of real numbers.
Own own(NodeImport &node, std::size_t i = 0);
/// A flattened image in the file's order.
Own own_plain(NodeImport &node, std::size_t i = 0);

/// A constant that is repeated to whatever it is read beside.
TensorId scalar(NodeImport &node, double value);

/// An op that is still to be added: the last one of a node has the name of its output.
struct Call {
  std::string_view op;
  std::vector<TensorId> inputs;
  Attributes attributes = {};
};

/// A reduction over dimensions `places`, which stay as 1 or go.
inline Call reduced_over(std::string_view op, TensorId x, const Dims &places, bool keeps) {
  return {op, {x}, {{"axes", places}, {"keepdims", std::int64_t{keeps}}}};
}

/// The root of a sum of squares. At 0, where a norm has no derivative, it passes 0 on, as PyTorch's norms do: a
/// quotient by the root would be NaN.
Call norm_call(NodeImport &node, TensorId sum);

/// The logarithm of the softmax of rows: their last dimension.
Call log_softmax_call(NodeImport &node, TensorId rows);

/// Those with the given indices of a tensor's elements along a dimension: slices, side by side if there are a few, or
/// a Gather. `last`: the last op is the node's.
TensorId taken_along(NodeImport &node, TensorId tensor, std::size_t place, const Dims &indices, bool last);

} // namespace gradweave::graph::onnx
