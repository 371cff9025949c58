// The check of a whole graph.
#pragma once

#include "graph/ir/graph.hpp"

namespace gradweave::graph {

/// Checks a whole graph, however it was made: names, single assignment, order, attributes, shapes, element types of
/// indices, updates, results. Throws GraphError as the builder does.
void verify(const Graph &graph);

} // namespace gradweave::graph
