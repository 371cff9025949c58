// What the graph and its passes throw.
#pragma once

#include <stdexcept>

namespace gradweave::graph {

/// A graph that cannot be, or an input that does not fit it. what() begins with where it was written (file and line,
/// where known) and names the node, the value and the remedy.
class GraphError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A check that a pass makes of its own work failed: the pass is at fault, not the graph.
class GraphDefect : public GraphError {
public:
  using GraphError::GraphError;
};

} // namespace gradweave::graph
