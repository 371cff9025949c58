// ONNX files, and the files beside them that hold weights.
#pragma once

#include "graph/onnx/file/model.hpp"

#include <filesystem>

namespace gradweave::graph::onnx {

/// The model in `file`, as parse_model() gives it; with `values`, all those that lie in other
/// files, too, and else those of them that shapes may follow from. These have to lie in
/// the folder of `file`, wherever links lead, and are checked for their size before anything is allocated. Throws
/// GraphError naming file and tensor; ConfigError if `file` cannot be read.
Model read_model(const std::filesystem::path &file, bool values);

} // namespace gradweave::graph::onnx
