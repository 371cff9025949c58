// How the rows of a rectangle lie in a tile of the scratchpad, and which of them a LOAD or STORE moves at a time.
#pragma once

#include "compiler/ir/tile.hpp"

namespace gradweave::compiler {

/// Rows of a tile, in each of its panels: those of the rectangle, and gaps of the grid between them.
std::uint32_t tile_rows(const Rect &rect);

/// Rows of the tile from a phase's plane to the next.
std::uint32_t plane_rows(const Rect &rect);

/// Rows of the rectangle that follow one another in the tile, and in memory with a pitch of `step` rows.
struct RowRun {
  std::uint32_t row = 0; ///< of the tensor, of the first
  std::uint32_t step = 1;
  std::uint32_t rows = 0;
  std::uint32_t at = 0; ///< row of the tile
};
/// All of them; `tap` is the rows of W from a tap to the next.
std::vector<RowRun> row_runs(const Rect &rect, std::uint32_t tap);
/// As many as these are.
std::uint32_t run_count(const Rect &rect);

/// First and one past the last row of the tensor that any row of the rectangle is.
void tensor_rows(const Rect &rect, std::uint32_t &first, std::uint32_t &end);

} // namespace gradweave::compiler
