// A step that takes its batch in several parts.
#pragma once

#include "graph/passes/gradient.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace gradweave::graph {

/// A graph's part for one micro-batch.
struct Copy {
  std::vector<std::pair<TensorId, TensorId>> inputs; ///< of the graph as it was, and those of the copy
  TensorId loss = kNone;
};

/// Appends copies of the whole graph, but for parameters, state and constants, until there are `count`: each with
/// inputs of its own, and with the state that the one before it left. `gradients` become sums over all, as
/// training_graph() says. Returns all, the first of which is the graph as it was.
std::vector<Copy> repeat_for_micro_batches(Graph &graph, const OperatorSet &operators, std::uint32_t count,
                                           std::vector<ParameterGradient> &gradients);

} // namespace gradweave::graph
