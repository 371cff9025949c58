// Where an area's pixels lie in a place of the scratchpad.
#pragma once

#include "compiler/pooling/window_area.hpp"
#include "compiler/vector_stream/group/place_tile.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::compiler::pooling {

/// Pixels of a value: a tile for each phase of rows, whose rows are a stride apart, and for each phase of columns. A
/// tile's columns are pixels with all channels.
struct ValueTiles {
  std::size_t row_phases = 1, col_phases = 1;
  std::size_t apart = 1;        ///< of the value's columns, pixels from one that the tile has room for to the next
  std::size_t spread = 1;       ///< columns of the tile from one to the next of these, in pixels
  std::vector<PlaceTile> tiles; ///< by phases of rows, then of columns
};

/// All operands of a walk have a position in the same lanes. Either the image's columns lie as they are in memory, so
/// that rows are moved as a whole, and the result's as far apart as the stride: lanes between are computed, and belong
/// to nothing, so that what is written of the image has tiles for each phase of columns all the same. Or the image's
/// columns lie phase by phase, each pixel moved by itself, and lanes are full.
struct WindowLayout {
  std::vector<ValueTiles> values;
  std::size_t lane_stride = 1; ///< pixels of lanes from position to position
  std::size_t rows = 0;        ///< of the scratchpad
};

/// `largest`: of each value, the most rows and columns of any area; none: it has no tile.
WindowLayout window_layout(const WindowWork &work, const std::vector<Extent> &largest, bool by_phases,
                           std::uint32_t lanes);

} // namespace gradweave::compiler::pooling
