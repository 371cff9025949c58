// Where an area's pixels lie in a place of the scratchpad.
#pragma once

#include "compiler/pooling/window_area.hpp"
#include "compiler/vector_stream/group/place_tile.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::compiler::pooling {

/// Pixels of a value. A tile's rows are every so many of its rows, as many as the stride, so that positions that follow
/// one another do in the tile; its columns are pixels with all channels. Pixels of the result lie as far apart as the
/// image's that they come from, a stride, so that all operands of a walk have a position in the same lanes: lanes
/// between are computed and belong to nothing. So what walks write of the image has tiles for each phase of columns.
struct ValueTiles {
  std::size_t row_phases = 1, col_phases = 1, spread = 1; ///< pixels from column to column
  std::vector<PlaceTile> tiles;                           ///< by phases of rows, then of columns
};

struct WindowLayout {
  std::vector<ValueTiles> values;
  std::size_t rows = 0; ///< of the scratchpad
};

/// `largest`: of each value, the most rows and columns of any area; none: it has no tile.
WindowLayout window_layout(const WindowWork &work, const std::vector<Extent> &largest, std::uint32_t lanes);

} // namespace gradweave::compiler::pooling
