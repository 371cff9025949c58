// Functions of the file in the places where nodes call them.
#pragma once

#include "graph/onnx/file/model.hpp"

namespace gradweave::graph::onnx {

/// Puts the nodes of a function in the place of each node that has its domain and name; the values within are called
/// as the node, a '/' and their own name. Throws GraphError naming `file` and the node: a function that calls itself,
/// more inputs or outputs than it has, and more than 2^20 nodes.
void inline_functions(Model &model, const std::string &file);

} // namespace gradweave::graph::onnx
