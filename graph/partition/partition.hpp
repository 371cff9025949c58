// A network over several devices, as a pass from forward graph to forward graph: what follows from it (gradients, their
// sum over devices in a fixed order, updates) the other passes make as of any graph.
#pragma once

#include "graph/passes/training.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::graph {

/// Layers from `first` to the next leg's run at `place`. A layer is a product of the forward pass and what follows it
/// up to the next; what comes before the first product belongs to that.
struct Leg {
  std::uint32_t place = 0, first = 0;
};

/// A part of the mini-batch on its way through the network.
struct Route {
  std::uint32_t share = 1; ///< of its images, beside the shares of the others
  std::vector<Leg> legs;   ///< the first begins with layer 0; ascending

  std::uint32_t place_of(std::uint32_t layer) const;
};

/// How a network is cut: parts of the mini-batch, one behind another, which work by themselves where they are on
/// devices of their own. Places count from 0, in the order in which gradients are added.
struct Partition {
  std::vector<Route> routes;         ///< one at least
  std::vector<std::uint32_t> tables; ///< places of embedding tables, in turn (look_ups.hpp), and of all their images
  bool reduced_there = true;         ///< so are the sums over what is looked up

  std::uint32_t shares() const; ///< of all routes
  std::uint32_t places() const; ///< 1 + the last of routes
  /// Layers 0 to cut - 1 at places 0 to parts - 1, each with its part, all others at place `parts`.
  static Partition of_cut(std::uint32_t cut, std::uint32_t parts);
};
/// The place of what the host has: inputs and their parts, which nobody computes.
inline constexpr std::uint32_t kHostPlace = kNone;

struct PartitionedGraph {
  Graph graph;
  Partition partition;
  std::vector<std::uint32_t> places;             ///< of each op, or kHostPlace
  std::vector<std::vector<std::uint32_t>> parts; ///< of each op, ascending: routes whose images it works on
};

/// Products of the forward pass.
std::uint32_t count_layers(const Graph &forward);

/// The network with each layer once for each place that it runs at, on the parts of every input's first dimension that
/// go through that, and with parts cut and put together (Split, Concat) where layers are at other places than those
/// before. All copies read the same parameters, so that a gradient of such is the sum of those of the copies, in
/// ascending order of the first part of each: ((g0 + g1) + g2) + ... (N22). Statistics over the batch are those of a
/// copy's parts, and running averages are the first copy's. Where all parts run at one place no op is added. Throws
/// GraphError: a layer beyond the network; a batch that shares do not divide; a tensor without a batch between places.
PartitionedGraph partition_batch(const Graph &forward, const OperatorSet &operators, const Partition &partition);

/// The places of a step's ops. What goes back through an op is where that is; what adds the gradients of several places
/// is at the first of these, and what follows for the parameter (its update, its copy in bf16) where that is, but of a
/// table where it lies; a copy of an input is where it is read.
std::vector<std::uint32_t> places_of_step(const TrainingGraph &step, const PartitionedGraph &network);

} // namespace gradweave::graph
