// An If whose condition is known when the file is read.
#pragma once

#include "graph/onnx/file/model.hpp"

#include <string>

namespace gradweave::graph::onnx {

/// Whether any node is an If.
bool has_branches(const std::vector<Node> &nodes);

/// Puts what the If that computes `output` has for the condition in its place. Throws GraphError naming file and node
/// if it has no such branch, or one of other outputs.
void take_branch(Model &model, const std::string &output, bool condition, const std::string &file);

} // namespace gradweave::graph::onnx
