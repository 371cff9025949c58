// Operators that exporters spell out, because the opset that they write has none.
#pragma once

#include "graph/onnx/file/model.hpp"

#include <string>

namespace gradweave::graph::onnx {

/// Puts a Gelu, with the erf, and a LayerNormalization over the last dimension in the place of the nodes that are one:
/// where nobody else reads what these compute in between, and none of them is `until`. What stands for the whole has
/// the name and output of the last one.
void recognise_patterns(std::vector<Node> &nodes, const Model &model, const std::string &until);

} // namespace gradweave::graph::onnx
