// How passes that write a graph anew begin.
#pragma once

#include "graph/ir/graph.hpp"

#include <vector>

namespace gradweave::graph {

/// Gives `graph`, which is empty, the texts of `from` and its tensors that no op computes. Returns where each tensor of
/// `from` is in `graph`; kNone: an op computes it.
inline std::vector<TensorId> begin_like(Graph &graph, const Graph &from) {
  graph.name = from.name;
  graph.description = from.description;
  graph.source = from.source;
  graph.published = from.published;
  std::vector<TensorId> now(from.tensors.size(), kNone);
  for (TensorId id = 0; id < from.tensors.size(); ++id)
    if (!from.tensors[id].computed()) {
      now[id] = static_cast<TensorId>(graph.tensors.size());
      graph.tensors.push_back(from.tensors[id]);
    }
  return now;
}

} // namespace gradweave::graph
