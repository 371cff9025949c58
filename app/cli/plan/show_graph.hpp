// Graphs and operators for people.
#pragma once

#include "graph/ir/graph.hpp"

#include <string>

namespace gradweave::cli {

/// A line an operator of the graph: how many ops there are, and what they compute in a forward pass; and the parameters
/// of heads, if there are any.
std::string operators_by_kind(const graph::Graph &graph);

/// All operators that there are: name, inputs and outputs, attributes, what they compute.
std::string operator_table();

/// The operators of ONNX files that are read, with what is not taken of them.
std::string onnx_operator_table();

} // namespace gradweave::cli
