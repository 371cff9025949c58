// Smaller networks than a given one.
#pragma once

#include "graph/ir/graph.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace gradweave::graphs {

/// Makes a graph smaller; false: there is nothing to change.
using Reduction = std::function<bool(graph::Graph &)>;

/// All that can be tried on a graph, the largest steps first: the loss of an earlier tensor, ops replaced by one of
/// their inputs or by a new input, results and updates left out, smaller dimensions, usual attributes.
std::vector<Reduction> reductions(const graph::Graph &graph);

/// The graph with `reduce` done, without what nothing needs, inferred and checked again; nothing if it is no legal
/// graph, or the same.
std::optional<graph::Graph> reduced(graph::Graph graph, const Reduction &reduce);

} // namespace gradweave::graphs
