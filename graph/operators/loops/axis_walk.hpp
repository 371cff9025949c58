// Walks along one axis of a tensor: a step for each of its elements there, a lane for each place in the other
// dimensions.
#pragma once

#include "graph/operators/loops/lines.hpp"

#include <cstddef>

namespace gradweave::graph {

/// An axis from -rank to rank - 1, which has been checked, counted from the first one.
inline std::size_t axis_of(const KernelOp &k, std::size_t rank) {
  const std::int64_t axis = k.attributes().integer("axis");
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

struct AxisWalk {
  std::size_t outer, along, inner; ///< elements before the axis, of it, and behind it

  AxisWalk(const Shape &shape, std::size_t axis)
      : outer(shape.count(0, axis)), along(shape[axis]), inner(shape.count(axis + 1, shape.rank())) {}

  LineWalk walk() const {
    LineWalk result{{}, {along}, {}, {}, false};
    if (outer != 1) result.lanes.push_back(outer);
    if (inner != 1 || outer == 1) result.lanes.push_back(inner);
    return result;
  }
  /// A tensor that has the axis.
  WalkOperand with_axis(WalkValue value) const { return {value, lanes(along * inner), {inner}, 0}; }
  /// One that does not.
  WalkOperand without_axis(WalkValue value) const { return {value, lanes(inner), {0}, 0}; }

private:
  std::vector<std::size_t> lanes(std::size_t outer_stride) const {
    std::vector<std::size_t> strides;
    if (outer != 1) strides.push_back(outer_stride);
    if (inner != 1 || outer == 1) strides.push_back(1);
    return strides;
  }
};

} // namespace gradweave::graph
