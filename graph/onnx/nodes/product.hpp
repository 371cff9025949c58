// Products of matrices, for whatever is one.
#pragma once

#include "graph/onnx/value/node_import.hpp"

namespace gradweave::graph::onnx {

/// a b of the last two dimensions, those before repeated to one another; of weights [K, N] that the file has, a layer.
/// `last`: the op is the node's.
Value matrix_product(NodeImport &node, const Value &a, const Value &b, bool last);

} // namespace gradweave::graph::onnx
