// Operands that overlap, as the taps of a pooling do: rectangles of one value, a few rows or columns apart. What covers
// them is one tile, which is loaded once.
#pragma once

#include "compiler/vector_stream/stage/stage.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::compiler {

/// A rectangle of a value that nobody in the group writes, some lanes and steps more than an operand has.
struct Cover {
  StridedTile tile; ///< from its first element on
  std::size_t more_lanes = 0, more_steps = 0;

  /// Whether an operand is a part of it.
  bool has(const StridedTile &t) const;
};

/// Of stages of elements over the same lanes and steps: what covers several operands of one value with the same
/// strides, if it has few elements more than these.
std::vector<Cover> covers_of(const std::vector<Stage> &stages);

} // namespace gradweave::compiler
