// From an ONNX file to a graph.
#pragma once

#include "graph/ir/operator.hpp"
#include "graph/onnx/file/model.hpp"
#include "graph/onnx/import_options.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace gradweave::graph::onnx {

/// Dimensions of each value that was computed or known, by its name, as the file has them.
using ShapeReport = std::map<std::string, std::vector<std::int64_t>>;

/// The network in an ONNX file (docs/onnx.md), verified: parameters are called as initializers, tensors as values, ops
/// as nodes. It has no loss. Throws GraphError "FILE: node 'NAME' (Type): problem", or naming the field; ConfigError if
/// the file cannot be read.
Graph read_onnx(const std::filesystem::path &file, const OperatorSet &operators, const ImportOptions &options = {},
                ShapeReport *shapes = nullptr);

/// The same of a model that was read from `file`.
Graph import_model(Model model, const std::filesystem::path &file, const OperatorSet &operators,
                   const ImportOptions &options = {}, ShapeReport *shapes = nullptr);

} // namespace gradweave::graph::onnx
