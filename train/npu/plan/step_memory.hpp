// Where the tensors of a step lie in the memory of one device, from its first to its last command.
#pragma once

#include "graph/ir/graph.hpp"
#include "sw_models/config/machine.hpp"
#include "train/npu/plan/order/same_elements.hpp"
#include "train/npu/plan/order/step_order.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace gradweave::runtime::train {

/// Of one tensor.
struct TensorPlace {
  std::uint64_t address = 0; ///< of element 0
  /// Elements from one to the next, by dimension; empty: row-major without gaps.
  std::vector<std::size_t> strides = {};
  /// The tensor whose place it is: its own, or that of one with the same elements, or of the value before. kNone: it
  /// never reaches memory.
  graph::TensorId owner = graph::kNone;
  bool kept = true; ///< the place is no other tensor's later in the step

  /// The element with this number in row-major order, counted from element 0 of the place.
  std::size_t element(const graph::Shape &shape, std::size_t number) const;
};

/// Elements have their edges' types. Each tensor has a place of its own, but
///  - next values of what lives from step to step: such a one lies in the place of the value before, so that the step
///    finds it there, unless an op that comes later, or the network's results, have the old value to read; then it is
///    moved at the end;
///  - where an op changes no element's value: the result of one that changes the shape only is what it reads; of a
///    Transpose whose result only batches of matrices of products are read from, too, in other strides, and what only
///    a Transpose reads of a product lies as that gives it;
///  - if the memory is too small for all, tensors that nobody reads any more make room for later ones.
struct StepMemory {
  std::vector<TensorPlace> places;  ///< of each tensor
  std::vector<graph::Update> moved; ///< next values that are to be moved into their places at the end
  std::uint64_t scratch = 0;        ///< where values of a single section lie; all sections use the same
};

/// What places follow from.
struct MemoryNeeds {
  const graph::Graph &graph;
  const StepOrder &order;
  const Views &views;
  std::vector<bool> inside = {}; ///< of each tensor: it never reaches memory; none: all do
  bool reuse = false;            ///< of places, where nobody reads a tensor any more
  /// Next values that need places of their own, and are moved at the end.
  std::set<graph::TensorId> displaced = {};
};

/// All tensors of the graph, from address 0 on.
StepMemory plan_memory(const MemoryNeeds &needs);

/// Throws std::invalid_argument, with both sizes and the remedy, if so many bytes are more than the NPU's memory.
void check_memory(std::uint64_t bytes, const Machine &npu);

} // namespace gradweave::runtime::train
