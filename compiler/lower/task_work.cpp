#include "compiler/lower/task_work.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/lower/tiling.hpp"

#include <algorithm>
#include <cmath>

namespace gradweave::compiler {

std::vector<TaskGrid> usual_grids(const graph::Graph &graph, const NpuConfig &npu, std::uint32_t blocks,
                                  std::uint32_t terms) {
  return std::vector<TaskGrid>(graph.ops.size(), {blocks * npu.rows, blocks * npu.cols, terms});
}

std::uint64_t task_cycles(const TaskGraph &tasks, const Task &task, const NpuConfig &npu) {
  if (task.kind == TaskKind::kProduct)
    return block_count(task.box.rows, task.box.cols, npu) * std::max(task.terms, shortest_block(npu));
  const graph::OpView op{tasks.graph(), tasks.graph().ops[task.op]};
  const double share =
      static_cast<double>(task.box.rows) * task.box.cols / static_cast<double>(op.output(0).shape.elements());
  return static_cast<std::uint64_t>(std::ceil(op.op.type->operations(op) * share / npu.lanes()));
}

TaskWork task_work(const TaskGraph &tasks, const NpuConfig &npu) {
  TaskWork work;
  std::vector<std::uint64_t> ends(tasks.size());
  for (TaskId id = 0; id < tasks.size(); ++id) {
    const Task task = tasks.task(id);
    std::uint64_t begin = 0;
    tasks.for_predecessors(id, [&](TaskId before) {
      ++work.dependences;
      begin = std::max(begin, ends[before]);
    });
    const std::uint64_t cycles = task_cycles(tasks, task, npu);
    ends[id] = begin + cycles;
    ++work.tasks[static_cast<std::size_t>(task.kind)];
    work.cycles[static_cast<std::size_t>(task.kind)] += cycles;
    work.critical_path = std::max(work.critical_path, ends[id]);
  }
  return work;
}

} // namespace gradweave::compiler
