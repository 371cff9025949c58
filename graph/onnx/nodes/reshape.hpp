// Other dimensions for a value whose tensor has its own in another order.
#pragma once

#include "graph/onnx/value/node_import.hpp"

namespace gradweave::graph::onnx {

/// x with `dims`, of as many elements. As long as dimensions that become one lie beside each other, no element moves:
/// an image stays channels last when pixels are joined or channels cut. One that is flattened altogether is left as it
/// lies, with Value::channels to tell. `last`: the op, if there is one, is the node's.
Value reshaped_value(NodeImport &node, const Value &x, const Dims &dims, bool last);

} // namespace gradweave::graph::onnx
