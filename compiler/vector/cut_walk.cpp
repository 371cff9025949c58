#include "compiler/vector/cut_walk.hpp"

#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace gradweave::compiler {
namespace {

using graph::GraphError;
using graph::LineWalk;
using graph::WalkOperand;

std::vector<const WalkOperand *> operands_of(const LineWalk &walk) {
  std::vector<const WalkOperand *> all;
  for (const WalkOperand &operand : walk.in)
    all.push_back(&operand);
  for (const WalkOperand &operand : walk.out)
    all.push_back(&operand);
  return all;
}

/// Dimensions of more than one element, outermost first; those that all operands walk as one are one.
std::vector<WalkAxis> merged_axes(const std::vector<std::size_t> &dims,
                                  const std::vector<const std::vector<std::size_t> *> &strides) {
  std::vector<WalkAxis> axes;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    WalkAxis axis{dims[d], {}};
    for (const std::vector<std::size_t> *of : strides)
      axis.strides.push_back((*of)[d]);
    bool merges = !axes.empty();
    for (std::size_t i = 0; merges && i < axis.strides.size(); ++i)
      merges = axes.back().strides[i] == axis.strides[i] * axis.count;
    if (merges) {
      axes.back().count *= axis.count;
      axes.back().strides = axis.strides;
    } else {
      axes.push_back(std::move(axis));
    }
  }
  return axes;
}

/// Of elements, whose lanes are inside their steps: both are one order of dimensions.
std::vector<WalkAxis> merged_axes_of_elements(const LineWalk &walk, const std::vector<const WalkOperand *> &operands) {
  std::vector<std::size_t> dims = walk.steps;
  dims.insert(dims.end(), walk.lanes.begin(), walk.lanes.end());
  std::vector<std::vector<std::size_t>> strides;
  for (const WalkOperand *operand : operands) {
    strides.push_back(operand->steps);
    strides.back().insert(strides.back().end(), operand->lanes.begin(), operand->lanes.end());
  }
  std::vector<const std::vector<std::size_t> *> all;
  for (const std::vector<std::size_t> &of : strides)
    all.push_back(&of);
  return merged_axes(dims, all);
}

/// Whether each operand is a matrix whose columns lie side by side, one of the axes being its columns.
bool are_rectangles(const WalkAxis &lanes, const WalkAxis &steps) {
  for (std::size_t i = 0; i < lanes.strides.size(); ++i)
    if (lanes.strides[i] > 1 && steps.strides[i] > 1) return false;
  return true;
}

bool uses_index(const isa::vector::Program &program) {
  for (const auto &section : program.sections)
    for (const isa::vector::Instruction &i : section)
      if (i.op == isa::vector::Op::INDEX) return true;
  return false;
}

WalkAxis single(std::size_t operands) { return {1, std::vector<std::size_t>(operands, 0)}; }

/// Takes the longest axis that makes rectangles with `other`; the last of those that are equally long.
std::optional<WalkAxis> take_longest(std::vector<WalkAxis> &axes, const WalkAxis &other) {
  std::size_t best = axes.size();
  for (std::size_t a = 0; a < axes.size(); ++a)
    if (are_rectangles(axes[a], other) && (best == axes.size() || axes[a].count >= axes[best].count)) best = a;
  if (best == axes.size()) return std::nullopt;
  const WalkAxis taken = axes[best];
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(best));
  return taken;
}

/// Elements: the axis along which all operands lie side by side, or are repeated, and the longest of the others. Lanes
/// are along the former unless that is short.
void choose_elements(RectangleWalk &walk, std::vector<WalkAxis> &axes, std::size_t row, std::size_t operands) {
  constexpr std::size_t kShort = 64;
  if (axes.size() == 1 && row > 1 && row < axes[0].count && axes[0].count % row == 0) {
    WalkAxis rows{axes[0].count / row, axes[0].strides};
    for (std::size_t &stride : rows.strides)
      stride *= row;
    axes[0].count = row;
    axes.insert(axes.begin(), rows);
  }
  const auto is_dense = [](const WalkAxis &axis) {
    return std::all_of(axis.strides.begin(), axis.strides.end(), [](std::size_t stride) { return stride <= 1; });
  };
  WalkAxis columns = single(operands);
  for (std::size_t a = axes.size(); a-- > 0;)
    if (is_dense(axes[a])) {
      columns = axes[a];
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(a));
      break;
    }
  WalkAxis rows = take_longest(axes, columns).value_or(single(operands));
  const bool along_columns = columns.count >= kShort || columns.count >= rows.count;
  walk.lanes = along_columns ? columns : rows;
  walk.steps = along_columns ? rows : columns;
}

} // namespace

std::vector<std::vector<std::size_t>> places_of(const std::vector<WalkAxis> &axes,
                                                const std::vector<std::size_t> &first) {
  std::vector<std::vector<std::size_t>> places{first};
  for (const WalkAxis &axis : axes) {
    std::vector<std::vector<std::size_t>> all;
    for (const std::vector<std::size_t> &begin : places)
      for (std::size_t n = 0; n < axis.count; ++n) {
        all.push_back(begin);
        for (std::size_t i = 0; i < begin.size(); ++i)
          all.back()[i] += n * axis.strides[i];
      }
    places = std::move(all);
  }
  return places;
}

RectangleWalk cut_walk(const graph::RecordedWalk &recorded, std::size_t row, const std::string &node) {
  const auto operands = operands_of(recorded.walk);
  std::vector<const std::vector<std::size_t> *> of_lanes, of_steps;
  std::vector<std::size_t> first;
  for (const WalkOperand *operand : operands) {
    of_lanes.push_back(&operand->lanes);
    of_steps.push_back(&operand->steps);
    first.push_back(operand->first);
  }
  RectangleWalk walk;
  std::vector<WalkAxis> axes;
  if (recorded.walk.elementwise && !uses_index(recorded.program)) {
    walk.elementwise = true;
    axes = merged_axes_of_elements(recorded.walk, operands);
    choose_elements(walk, axes, row, operands.size());
  } else {
    axes = merged_axes(recorded.walk.lanes, of_lanes);
    walk.outer = merged_axes(recorded.walk.steps, of_steps);
    walk.steps = walk.outer.empty() ? single(operands.size()) : walk.outer.back();
    if (!walk.outer.empty()) walk.outer.pop_back();
    walk.lanes = take_longest(axes, walk.steps).value_or(single(operands.size()));
  }
  if (!are_rectangles(walk.lanes, walk.steps))
    throw GraphError(node + ": an operand is no matrix whose columns lie side by side; no job reads that");
  walk.firsts = places_of(axes, first);
  return walk;
}

RectangleWalk cut_move(const graph::RowMove &move) {
  RectangleWalk walk;
  std::vector<WalkAxis> axes = merged_axes(move.rows, {&move.from.steps, &move.to.steps});
  walk.lanes = single(2);
  walk.steps = take_longest(axes, walk.lanes).value_or(single(2));
  walk.firsts = places_of(axes, {move.from.first, move.to.first});
  return walk;
}

} // namespace gradweave::compiler
