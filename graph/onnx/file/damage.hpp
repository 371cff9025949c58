// Where a file of protobuf is broken, which the library does not tell.
#pragma once

#include <string>
#include <string_view>

namespace gradweave::graph::onnx {

/// "field 'graph.initializer' at byte 1016 takes 4096 bytes, and the file ends after 300 of them: it is truncated", for
/// bytes that cannot be parsed as an ONNX model.
std::string damage_of(std::string_view bytes);

} // namespace gradweave::graph::onnx
