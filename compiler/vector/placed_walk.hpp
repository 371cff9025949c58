// Walks over several places, and in which order their jobs may come.
#pragma once

#include "compiler/vector/cut_walk.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::compiler {

struct PlacedWalk {
  RectangleWalk walk;
  std::size_t program = 0;         ///< which of OpJobs::programs
  std::vector<std::size_t> values; ///< which of OpJobs::values each operand, then each result is
  std::size_t operands = 0;        ///< so many of these
};

/// Whether two walks of elements, over the same lanes and steps at as many places, may have their jobs place by place,
/// both of the first place, then of the second: neither reads or writes at a place what the other writes at another.
/// Looks at first and last elements: places that lie in ascending order.
bool go_place_by_place(const PlacedWalk &before, const PlacedWalk &behind);

} // namespace gradweave::compiler
