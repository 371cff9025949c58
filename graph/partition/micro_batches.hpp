// A step of training whose batch goes through the devices in micro-batches, one behind another: a pass from step to
// step.
#pragma once

#include "graph/partition/partition.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::graph {

/// A step, and of each of its ops the place (places_of_step()), and the micro-batch whose rows it works on.
struct PlacedStep {
  TrainingGraph step;
  std::vector<std::uint32_t> places;
  std::vector<std::uint32_t> micro_batch_of; ///< kNone: all, or none
};

/// The network with statistics over the batch (BatchNormalization) taken over each micro-batch of each device, before
/// gradients are made: what is one op becomes one a micro-batch, between a Split and a Concat. Running averages go on
/// from each micro-batch to the next. Others are as they were. Throws GraphError: a batch that micro-batches do not
/// divide.
PartitionedGraph split_statistics(const PartitionedGraph &network, const OperatorSet &operators,
                                  std::uint32_t micro_batches);

/// The step with every op whose results are row-wise (row_wise.hpp) once for each micro-batch, on its rows of each part
/// of the batch. All others stay what they are, and read all rows put together again: gradients of weights above all,
/// whose chains go over the batch as before. So no bit of any tensor of `placed` changes, whatever their number. Ops
/// are called NAME.microK. Throws GraphError: a batch that micro-batches do not divide; more than one batch a step.
PlacedStep in_micro_batches(PlacedStep placed, const Partition &partition, const OperatorSet &operators,
                            std::uint32_t micro_batches);

} // namespace gradweave::graph
