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

/// One lane axis and one step axis, for each of the places that the other axes lead to. A chain over several dimensions
/// goes through `outer` ones, outermost first, and through all steps for each of their places.
struct RectangleWalk {
  WalkAxis lanes, steps;
  std::vector<WalkAxis> outer = {};             ///< none of elements
  std::vector<std::vector<std::size_t>> firsts; ///< of each rectangle, element 0 of each operand
  bool elementwise = false;
};

/// `row`: elements that an operand's rows have, to make a matrix of what is a single dimension. Throws GraphError, from
/// "node", if an operand is no rectangle.
RectangleWalk cut_walk(const graph::RecordedWalk &recorded, std::size_t row, const std::string &node);

/// Where the operands of a rectangle begin at each of the places that axes lead to, the last axis innermost.
std::vector<std::vector<std::size_t>> places_of(const std::vector<WalkAxis> &axes,
                                                const std::vector<std::size_t> &first);

/// The same of a move: its rows are the steps, and there is one lane. Operands: from, to.
RectangleWalk cut_move(const graph::RowMove &move);

} // namespace gradweave::compiler
