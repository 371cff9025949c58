// A network on a system: what runs where, as a graph.
#pragma once

#include "graph/partition/micro_batches.hpp"
#include "sw_models/system/system_config.hpp"
#include "train/product_plan.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::runtime::train {

/// A network whose layers run on the devices of a system, and the step that trains it.
struct SystemNetwork {
  graph::PartitionedGraph network;
  graph::TrainingGraph step;                 ///< of network.graph, in micro-batches
  std::vector<std::uint32_t> places;         ///< of each op of the step
  std::vector<std::uint32_t> micro_batch_of; ///< of each op of the step; graph::kNone: all, or none
  std::vector<std::uint32_t> devices;        ///< of the system, of each place
  PipelineOrder order;
};

/// The network by `partition` on the system. Throws graph::GraphError as partition_batch(), training_graph() and
/// in_micro_batches(); a cut beyond the network as ConfigError with the system file's line.
SystemNetwork make_system_network(const graph::Graph &forward, const SystemConfig &system,
                                  const PartitionConfig &partition, const graph::TrainingOptions &options);

/// Of the products of the network's step; both must outlive it.
MachineOf machine_of(const SystemNetwork &network, const SystemConfig &system);

} // namespace gradweave::runtime::train
