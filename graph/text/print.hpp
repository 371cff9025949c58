// The text of a graph.
#pragma once

#include "graph/ir/graph.hpp"

#include <string>

namespace gradweave::graph {

/// A statement a line, which read_graph() makes an equal graph of: all but Tensor::where and Op::where, which become
/// lines of the text. Ids are equal where ops stand in the order in which their results were made, as the builder
/// leaves them; passes number otherwise, and then reading gives the numbers in order.
std::string print_graph(const Graph &graph);

} // namespace gradweave::graph
