// Work and dependences of tile tasks: what a scheduler has to hand out, and what no scheduler can shorten.
#pragma once

#include "compiler/ir/task.hpp"
#include "sw_models/npu_config.hpp"

#include <array>

namespace gradweave::compiler {

/// Grids that suit an array: tiles of `blocks` x `blocks` blocks of results, chains in steps of `terms`; what is no
/// product likewise, or in whole rows.
std::vector<TaskGrid> usual_grids(const graph::Graph &graph, const NpuConfig &npu, std::uint32_t blocks = 4,
                                  std::uint32_t terms = 1024);

/// Cycles of a product's task on the array by the block formula; of another, its operations by the lanes of a vector
/// unit of one line, rounded up.
std::uint64_t task_cycles(const TaskGraph &tasks, const Task &task, const NpuConfig &npu);

/// What all tasks together ask for.
struct TaskWork {
  std::array<std::uint64_t, 3> tasks{};  ///< by TaskKind
  std::array<std::uint64_t, 3> cycles{}; ///< by TaskKind
  std::uint64_t dependences = 0;
  /// Cycles of the longest chain of tasks that wait for one another: no number of cores takes less.
  std::uint64_t critical_path = 0;
};

/// Walks all tasks once, in 8 bytes a task; time grows with tasks and dependences.
TaskWork task_work(const TaskGraph &tasks, const NpuConfig &npu);

} // namespace gradweave::compiler
