// Groups of a step's ops that go item by item through the scratchpad, as attention's heads do.
#pragma once

#include "compiler/items/item_group.hpp"
#include "graph/ir/graph.hpp"
#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"
#include "train/npu/plan/step_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gradweave::runtime::train {

/// The groups (compiler/items/item_group.hpp) of which the NPU's scratchpad holds an item. All other ops are as if
/// there were none.
class ItemSections {
public:
  /// `keep`: tensors that reach memory whoever reads them. `first_semaphore`: the first of those that no other section
  /// uses. The NPU must outlive the object.
  ItemSections(const graph::Graph &graph, const Machine &npu, const std::function<bool(graph::TensorId)> &keep,
               std::uint32_t first_semaphore);
  ~ItemSections();
  ItemSections(const ItemSections &) = delete;
  ItemSections &operator=(const ItemSections &) = delete;

  const std::vector<compiler::ItemGroup> &groups() const { return groups_; }
  /// Whether a group has the op.
  bool has(graph::OpId op) const;
  std::uint64_t multiply_adds() const { return multiply_adds_; }
  /// Notes which of the group's results never reach memory.
  void note_inside(std::size_t group, const graph::Graph &graph, std::vector<bool> &inside) const;
  /// Groups of one form are cut alike.
  std::vector<isa::Command> commands(std::size_t group, const graph::Graph &graph, const StepMemory &memory);

private:
  class Jobs;

  std::vector<compiler::ItemGroup> groups_;
  std::unique_ptr<Jobs> jobs_; ///< of each group, and how they are cut
  std::uint64_t multiply_adds_ = 0;
};

} // namespace gradweave::runtime::train
