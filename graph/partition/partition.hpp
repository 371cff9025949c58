// A network over several devices, as a pass from forward graph to forward graph: what follows from it (gradients, their
// sum over devices in a fixed order, updates) the other passes make as of any graph.
#pragma once

#include "graph/passes/training.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::graph {

/// How a network is cut. A layer is a product of the forward pass and what follows it up to the next.
struct Partition {
  std::uint32_t cut = 0;   ///< layers 0 to cut - 1 are the lower ones
  std::uint32_t parts = 1; ///< of the mini-batch, on each of which the lower layers work by themselves; at least 1

  /// Of places: where what is no part's runs.
  std::uint32_t upper() const { return parts; }
};
/// The place of what the host has: inputs and their parts, which nobody computes.
inline constexpr std::uint32_t kHostPlace = kNone;

struct PartitionedGraph {
  Graph graph;
  Partition partition;
  std::vector<std::uint32_t> places; ///< of each op: 0 to parts - 1, upper() or kHostPlace
};

/// Products of the forward pass.
std::uint32_t count_layers(const Graph &forward);

/// The network with its lower layers `parts` times, each on a part of every input's first dimension, and what they give
/// to the upper layers put together again (Concat). All copies read the same parameters, so that a gradient of such is
/// the sum of those of the copies, in ascending order: ((g0 + g1) + g2) + ... (N22). Statistics over the batch are
/// those of a part. With one part no op is added. Throws GraphError: a cut that leaves the upper device no layer; a
/// batch that parts do not divide; running averages below the cut of several parts; a tensor at the cut without a
/// batch.
PartitionedGraph partition_batch(const Graph &forward, const OperatorSet &operators, const Partition &partition);

/// The places of a step's ops. What goes back through an op is where that is; what adds the gradients of several places
/// is at the first of these, and what follows for the parameter (its update, its copy in bf16) where that is; a copy of
/// an input is where it is read.
std::vector<std::uint32_t> places_of_step(const TrainingGraph &step, const PartitionedGraph &network);

} // namespace gradweave::graph
