// A drawing of a graph.
#pragma once

#include "graph/ir/graph.hpp"

#include <string>

namespace gradweave::cli {

/// A stand-alone SVG document: a box an op, in rows so that all arrows between them point down, with the operator, the
/// op's name, the shape of its result and the parameters that it reads; inputs and results as rounded boxes.
std::string draw_graph(const graph::Graph &graph);

} // namespace gradweave::cli
