#include "compiler/verify/verify_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// How the tiles of an op lie, read off its first and its last task, and which of them are complete.
struct Tiles {
  Rect first;                                   ///< the tile at (0, 0), no smaller than any
  std::uint32_t rows = 0, cols = 0, groups = 0; ///< of the result, in a group
  std::uint64_t done = 0;                       ///< complete tiles
  std::vector<bool> complete;

  Tiles(const TaskGraph &tasks, graph::OpId op) : first(tasks.task(tasks.first(op)).box) {
    const Task last = tasks.task(tasks.end(op) - 1);
    rows = last.box.row + last.box.rows;
    cols = last.box.col + last.box.cols;
    groups = last.group + 1;
    complete.resize(std::size_t{groups} * across(rows, first.rows) * across(cols, first.cols));
  }
  static std::uint32_t across(std::uint32_t extent, std::uint32_t side) { return (extent + side - 1) / side; }
  std::size_t at(std::uint32_t group, std::uint32_t row, std::uint32_t col) const {
    return (std::size_t{group} * across(rows, first.rows) + row / first.rows) * across(cols, first.cols) +
           col / first.cols;
  }
  bool all() const { return done == complete.size(); }
  /// Whether all tiles of a group that hold something of the rectangle are complete.
  bool holds(std::uint32_t group, const Rect &rect) const {
    for (std::uint32_t i = rect.row / first.rows; i < across(rect.row + rect.rows, first.rows); ++i)
      for (std::uint32_t j = rect.col / first.cols; j < across(rect.col + rect.cols, first.cols); ++j)
        if (!complete[at(group, i * first.rows, j * first.cols)]) return false;
    return true;
  }
};

/// Replays tasks: how far each chain is, and which tiles are complete.
class TaskReplay {
public:
  explicit TaskReplay(const TaskGraph &tasks) : tasks_(tasks), sums_(tasks.size()), seen_(tasks.size()) {
    for (graph::OpId op = 0; op < tasks.graph().ops.size(); ++op)
      tiles_.emplace_back(tasks, op);
  }

  std::string step(TaskId id) {
    if (id >= tasks_.size()) return fmt::format("task {} of {} that there are", id, tasks_.size());
    if (seen_[id]) return fmt::format("{} comes twice", name(id));
    seen_[id] = true;
    const Task task = tasks_.task(id);
    for (const Need &need : tasks_.needs(task))
      if (!found(need, task))
        return fmt::format("{} reads '{}' before it is complete", name(id), tasks_.graph().tensors[need.tensor].name);
    Tiles &tiles = tiles_[task.op];
    // A chain's sum is kept where its first step has its number.
    std::uint32_t &sum = sums_[tasks_.first(task.op) + tiles.at(task.group, task.box.row, task.box.col)];
    if (sum != task.first) return fmt::format("{} goes on at {} with a sum that ends at {}", name(id), task.first, sum);
    sum += task.terms;
    if (!task.last) return {};
    tiles.complete[tiles.at(task.group, task.box.row, task.box.col)] = true;
    ++tiles.done;
    return {};
  }

  std::string finish() const {
    const auto missing = std::find(seen_.begin(), seen_.end(), false);
    return missing == seen_.end() ? std::string{} : name(static_cast<TaskId>(missing - seen_.begin())) + " is missing";
  }

private:
  std::string name(TaskId id) const {
    const Task task = tasks_.task(id);
    return fmt::format("task {}: '{}' at ({}, {})", id, tasks_.graph().ops[task.op].name, task.box.row, task.box.col);
  }

  /// Whether all that is needed of a tensor is complete: of what an op writes in rectangles, those; else the whole op.
  bool found(const Need &need, const Task &reader) const {
    const graph::Tensor &tensor = tasks_.graph().tensors[need.tensor];
    if (!tensor.computed()) return true;
    const Tiles &writer = tiles_[tensor.producer];
    if (writer.all()) return true;
    const bool rectangles = tasks_.graph().ops[tensor.producer].outputs[0] == need.tensor &&
                            std::uint64_t{writer.rows} * writer.cols * writer.groups == tensor.shape.elements();
    if (!rectangles) return false;
    if (writer.groups == 1) return writer.holds(0, need.rect);
    // Groups lie side by side or below each other: those of the reader's own group will do.
    return writer.groups == tiles_[reader.op].groups && writer.holds(reader.group, {0, 0, writer.rows, writer.cols});
  }

  const TaskGraph &tasks_;
  std::vector<Tiles> tiles_;
  std::vector<std::uint32_t> sums_;
  std::vector<bool> seen_;
};

} // namespace

std::string verify_task_order(const TaskGraph &tasks, const std::vector<TaskId> &order) {
  TaskReplay replay(tasks);
  for (const TaskId id : order)
    if (std::string problem = replay.step(id); !problem.empty()) return problem;
  return replay.finish();
}

} // namespace gradweave::compiler
