// Walks of any dimensions as rectangles: a dimension of lanes, one of steps, and the others one after the other.
#pragma once

#include "graph/golden/recorded_kernel.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gradweave::compiler {

/// A dimension of a walk with the stride of each operand, results behind operands. Elements.
struct WalkAxis {
  std::size_t count = 1;
  std::vector<std::size_t> strides;
};

/// One lane axis and one step axis, for each of the places that the other axes lead to.
struct RectangleWalk {
  WalkAxis lanes, steps;
  std::vector<std::vector<std::size_t>> firsts; ///< of each rectangle, element 0 of each operand
  bool elementwise = false;
};

/// `row`: elements that an operand's rows have, to make a matrix of what is a single dimension. Throws GraphError, from
/// "node", if steps that depend on each other have dimensions that are no one dimension, or if an operand is no
/// rectangle.
RectangleWalk cut_walk(const graph::RecordedWalk &recorded, std::size_t row, const std::string &node);

/// The same of a move: its rows are the steps, and there is one lane. Operands: from, to.
RectangleWalk cut_move(const graph::RowMove &move);

} // namespace gradweave::compiler
