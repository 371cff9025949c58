// Pooling that the graph has no operator for: dilated, of volumes, of norms, with pads as wide as the window.
#pragma once

#include "graph/onnx/nodes/window.hpp"

namespace gradweave::graph::onnx {

/// Gives output 0 of a MaxPool, AveragePool or LpPool: a slice of the padded image for each tap of the window, and
/// these joined by an operator.
void give_tap_pool(NodeImport &node, const Value &x, const Window &window);

} // namespace gradweave::graph::onnx
