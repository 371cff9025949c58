// From the bytes of an ONNX file to what they say. The only unit that knows protobuf.
#pragma once

#include "graph/onnx/file/model.hpp"

#include <string>
#include <string_view>

namespace gradweave::graph::onnx {

/// The model in `bytes`, the contents of `file`; values in other files are not read. Throws GraphError naming the file
/// and the field: bytes that are no ONNX or end too early, no graph in them, an opset that is not known, and tensors
/// that problem_of() refuses.
Model parse_model(std::string_view bytes, const std::string &file, bool values = true);

} // namespace gradweave::graph::onnx
