// Where the tensors of a step lie in the memory of one device, from its first to its last command.
#pragma once

#include "graph/ir/graph.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::runtime::train {

/// Row-major without gaps, elements of their edges' types. Each tensor has a place of its own, but for next values of
/// what lives from step to step: such a one lies in the place of the value before, so that the step finds it there,
/// unless an op that comes later, or the network's results, have the old value to read; then it is moved at the end.
struct StepMemory {
  std::vector<std::uint64_t> tensors; ///< address of each
  std::vector<graph::TensorId> takes; ///< of each: whose place it takes; kNone: it has its own
  std::vector<graph::Update> moved;   ///< next values that are to be moved into their places at the end
  std::uint64_t scratch = 0;          ///< where values of a single section lie; all sections use the same
  std::uint64_t bytes = 0;            ///< up to the scratch space

  /// The tensor has a value of its own behind the step.
  bool stays(graph::TensorId id) const { return overwritten_.empty() || !overwritten_[id]; }

private:
  friend StepMemory plan_memory(const graph::Graph &graph);
  std::vector<bool> overwritten_;
};

/// All tensors of the graph, from address 0 on.
StepMemory plan_memory(const graph::Graph &graph);

/// Throws std::invalid_argument, with both sizes and the remedy, if so many bytes are more than the NPU's memory.
void check_memory(std::uint64_t bytes, const Machine &npu);

} // namespace gradweave::runtime::train
