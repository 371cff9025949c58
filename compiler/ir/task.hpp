// Tile tasks: what engines execute of a graph, and what has to be done before each. Moving data is no task: what stays
// in the scratchpad is a scheduler's decision.
#pragma once

#include "compiler/ir/tile.hpp"
#include "graph/ir/operator.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace gradweave::compiler {

using TaskId = std::uint64_t;

/// Who executes it: the array; whoever computes what is no product; the same for the next value of a parameter or of
/// state.
enum class TaskKind : std::uint8_t { kProduct, kVector, kUpdate };

/// A tile of an op's result. Of a product, in one of its groups and for a range of the reduction: a step of the chain
/// that its bits depend on (N6).
struct Task {
  graph::OpId op = 0;
  TaskKind kind = TaskKind::kVector;
  Rect box;                ///< of the product's result matrix in the group; else of the first output as rows x columns
  std::uint32_t group = 0; ///< of a product
  std::uint32_t first = 0, terms = 0; ///< range of the reduction of a product
  bool last = true;                   ///< the box is complete after it
};

/// Tile sides of an op: of its result, and of a product's reduction. At the far edges tiles are smaller.
struct TaskGrid {
  std::uint32_t rows = 0, cols = 0, terms = 0;
};

/// A rectangle of a tensor that a task reads; a tensor's rows are its elements but for the last dimension.
struct Need {
  graph::TensorId tensor = graph::kNone;
  Rect rect;
};

/// All tasks of a graph under a grid for each op. Tasks are numbered op by op, and the steps of a chain one after the
/// other, so that every task depends on lower numbers only. Nothing is stored for a task: its box and what it depends
/// on follow from the grids, so a million tasks take no memory.
class TaskGraph {
public:
  /// The graph must outlive this. Sides of 0, and those beyond the tensor, stand for the whole. Throws
  /// std::invalid_argument unless there is a grid for each op.
  TaskGraph(const graph::Graph &graph, std::vector<TaskGrid> grids);

  TaskId size() const { return first_.back(); }
  TaskId first(graph::OpId op) const { return first_[op]; }
  TaskId end(graph::OpId op) const { return first_[op + 1]; }
  const graph::Graph &graph() const { return graph_; }
  Task task(TaskId id) const;

  /// What the task reads, its own sum apart: rectangles that hold all of it, whole tensors where elements change
  /// places.
  std::vector<Need> needs(const Task &task) const;
  /// Calls visit(TaskId) for each task that has to be done before: the step of the chain before, and the last step of
  /// each tile that holds something of what it reads. Each once, ascending for each tensor.
  void for_predecessors(TaskId id, const std::function<void(TaskId)> &visit) const;

private:
  /// How the tasks of an op are counted: groups, rows, columns, steps; the last counts fastest.
  struct Form {
    TaskKind kind = TaskKind::kVector;
    graph::Lowering lowering;
    std::uint32_t groups = 1, rows = 1, cols = 1, terms = 0; ///< of the result (in a group) and of the reduction
    TaskGrid tile;
    std::uint32_t row_tiles = 1, col_tiles = 1, steps = 1;
  };

  Form form_of(const graph::Op &op, TaskGrid grid) const;
  void product_needs(const Task &task, const Form &form, std::vector<Need> &needs) const;
  void vector_needs(const Task &task, const Form &form, std::vector<Need> &needs) const;
  void for_writers(const Need &need, const std::function<void(TaskId)> &visit) const;

  const graph::Graph &graph_;
  std::vector<Form> forms_;
  std::vector<TaskId> first_;
};

} // namespace gradweave::compiler
