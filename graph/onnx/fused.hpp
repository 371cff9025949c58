// Operators that onnxruntime makes of several, when it saves a network that it has optimised.
#pragma once

#include "graph/onnx/file/model.hpp"

namespace gradweave::graph::onnx {

/// Puts the operators that they were made of in their place. Those of attention stay as they are.
void take_apart(Model &model);

} // namespace gradweave::graph::onnx
