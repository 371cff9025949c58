// Graphs made in Python.
#pragma once

#include "graph/build/builder.hpp"

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::python {

/// Graph of Python: what it holds is checked when it is added. Everything throws graph::GraphError, which begins with
/// the place in Python that `where` names.
class GraphInPython {
public:
  explicit GraphInPython(std::string name);
  explicit GraphInPython(graph::Graph graph);
  GraphInPython(const GraphInPython &) = delete;
  GraphInPython &operator=(const GraphInPython &) = delete;

  graph::Builder &at(const std::string &where) {
    builder_->at(where);
    return *builder_;
  }
  graph::Graph &graph() { return graph_; }
  /// The graph as it is now, verified.
  std::shared_ptr<const graph::Graph> copy() const;

private:
  graph::Graph graph_;
  std::unique_ptr<graph::Builder> builder_;
};

/// Tensor of Python: one of a graph.
struct TensorInPython {
  std::shared_ptr<GraphInPython> graph;
  graph::TensorId id = graph::kNone;

  const graph::Tensor &tensor() const { return graph->graph().tensors[id]; }
};

} // namespace gradweave::python
