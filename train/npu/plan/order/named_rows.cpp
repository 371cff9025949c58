#include "train/npu/plan/order/named_rows.hpp"

#include "graph/ir/operator.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace gradweave::runtime::train {
namespace {

using compiler::JobTile;
using compiler::OpJobs;
using compiler::VectorJob;
using graph::Graph;
using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::TensorId;

/// Rows that follow each other, one past the last.
struct RowRange {
  std::size_t begin = 0, end = 0;
  bool named = false;
};

/// All rows of a matrix, in order.
std::vector<RowRange> ranges_of(const std::vector<std::int32_t> &named, std::size_t rows) {
  std::vector<RowRange> ranges;
  const auto add = [&](std::size_t begin, std::size_t end, bool is_named) {
    if (begin == end) return;
    if (!ranges.empty() && ranges.back().named == is_named)
      ranges.back().end = end;
    else
      ranges.push_back({begin, end, is_named});
  };
  std::size_t at = 0;
  for (const std::int32_t id : std::set<std::int32_t>(named.begin(), named.end())) {
    const auto row = static_cast<std::size_t>(id);
    add(at, row, false);
    add(row, row + 1, true);
    at = row + 1;
  }
  add(at, rows, false);
  return ranges;
}

std::optional<std::size_t> first_unnamed(const std::vector<RowRange> &ranges) {
  for (const RowRange &range : ranges)
    if (!range.named) return range.begin;
  return std::nullopt;
}

bool is_sparse_update(const Op &op) { return op.type->name == "SparseAdamW" || op.type->name == "SparseSgd"; }
bool is_dense_update(const Op &op) { return op.type->name == "AdamW" || op.type->name == "Sgd"; }

bool is_number(const JobTile &tile) { return !tile.lanes_move && !tile.steps_move; }

/// Elements `begin` to `end` of a job that has all elements of its tiles in one order, or one for all.
VectorJob part_of(const VectorJob &whole, std::size_t begin, std::size_t end) {
  VectorJob part = whole;
  part.lanes = static_cast<std::uint32_t>(end - begin);
  part.steps = 1;
  for (auto *tiles : {&part.operands, &part.results})
    for (JobTile &tile : *tiles) {
      if (is_number(tile)) continue;
      tile = {tile.value, tile.first + begin, end - begin, compiler::LineOf::kRow, true, false};
    }
  return part;
}

/// The rows that a job of whole rows gives and none before it gave, which are noted, as ranges.
std::vector<std::pair<std::size_t, std::size_t>> fresh_rows(const VectorJob &job, std::size_t cols,
                                                            std::vector<bool> &given) {
  const std::size_t begin = job.results[0].first / cols, end = (job.results[0].first + job.lanes - 1) / cols + 1;
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (std::size_t row = begin; row < end; ++row) {
    if (given[row]) continue;
    given[row] = true;
    if (!ranges.empty() && ranges.back().second == row)
      ranges.back().second = row + 1;
    else
      ranges.emplace_back(row, row + 1);
  }
  return ranges;
}

} // namespace

TensorId named_rows_of(const Graph &graph, const Op &op) {
  if (op.type->name != "GatherGradient") return kNone;
  const TensorId rows = op.inputs[1];
  const std::vector<OpId> readers = graph.consumers()[op.outputs[0]];
  const bool by_rows = std::all_of(readers.begin(), readers.end(), [&](OpId reader) {
    const Op &update = graph.ops[reader];
    return is_sparse_update(update) &&
           std::find(update.inputs.begin(), update.inputs.end(), rows) != update.inputs.end();
  });
  const bool from_zero = op.inputs.size() < 3 || op.inputs[2] == kNone;
  const bool dense = readers.size() == 1 && is_dense_update(graph.ops[readers[0]]) && from_zero;
  const bool is_table = op.attributes.integer("axis") == 0 && graph.tensors[op.outputs[0]].shape.rank() == 2;
  return !readers.empty() && is_table && (by_rows || dense) ? rows : kNone;
}

OpId gradient_by_rows(const Graph &graph, const Op &op) {
  if (!is_dense_update(op)) return kNone;
  const OpId producer = graph.tensors[op.inputs[1]].producer;
  return producer != kNone && named_rows_of(graph, graph.ops[producer]) != kNone ? producer : kNone;
}

void zero_named_rows(OpJobs &jobs, const std::vector<std::int32_t> &named, const graph::Shape &shape) {
  const std::size_t cols = shape.cols();
  const std::optional<std::size_t> spare = first_unnamed(ranges_of(named, shape.rows()));
  std::optional<VectorJob> zeros;
  std::vector<bool> zeroed(shape.rows());
  std::vector<compiler::JobStep> steps;
  for (const compiler::JobStep &step : jobs.steps) {
    const auto *job = std::get_if<VectorJob>(&step);
    if (job != nullptr && job->operands.empty()) {
      zeros = *job;
      if (spare) steps.emplace_back(part_of(*zeros, *spare * cols, (*spare + 1) * cols));
      continue;
    }
    if (job != nullptr && zeros)
      for (const auto &[begin, end] : fresh_rows(*job, cols, zeroed))
        steps.emplace_back(part_of(*zeros, begin * cols, end * cols));
    steps.push_back(step);
  }
  jobs.steps = std::move(steps);
}

void update_by_rows(OpJobs &jobs, TensorId gradient, const std::vector<std::int32_t> &named,
                    const graph::Shape &shape) {
  const std::size_t cols = shape.cols();
  const std::vector<RowRange> ranges = ranges_of(named, shape.rows());
  const std::optional<std::size_t> spare = first_unnamed(ranges);
  std::vector<compiler::JobStep> steps;
  for (const RowRange &range : ranges)
    for (const compiler::JobStep &step : jobs.steps) {
      const auto *whole = std::get_if<VectorJob>(&step);
      if (whole == nullptr || !whole->elementwise || std::size_t{whole->lanes} * whole->steps != shape.elements())
        throw std::logic_error("an update of a whole parameter has jobs that are not of its elements");
      VectorJob part = part_of(*whole, range.begin * cols, range.end * cols);
      if (!range.named)
        for (JobTile &tile : part.operands)
          if (jobs.values[tile.value].tensor == gradient)
            tile = {tile.value, *spare * cols, 1, compiler::LineOf::kRow, false, false};
      steps.emplace_back(std::move(part));
    }
  jobs.steps = std::move(steps);
}

} // namespace gradweave::runtime::train
