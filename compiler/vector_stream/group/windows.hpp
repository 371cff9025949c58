// Jobs whose tiles are windows of common rows: the windows of a pooling are a few channels each, side by side in the
// lines of an image.
#pragma once

#include "compiler/vector_stream/stage/stage.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::compiler {

/// A stretch of rows, one a lane, of which tiles are windows: all rows are one tile, that is moved as a whole.
struct WindowRows {
  StridedTile tile;      ///< all of it: first is its first element, the pitch is `lane`
  std::size_t cols = 0;  ///< at most the pitch
  std::size_t taken = 0; ///< columns that are written
  std::size_t least = 0; ///< columns of the narrowest window
  bool written = false;  ///< by the group, each window once, before it is read; else nobody writes it

  bool has(const StridedTile &t) const {
    return t.value == tile.value && t.lane == tile.lane && t.first >= tile.first && t.first < tile.first + cols;
  }
};

/// Of stages that share windows, all rows.
std::vector<WindowRows> rows_of_windows(const std::vector<Stage> &stages);

/// Whether the stage may follow `stages` (none: stand alone) with all its tiles as windows: elements, in rows of less
/// than four beats of the bus (more are moved as well by themselves), some of them in rows that `stages` have, too;
/// what it writes nobody has read or written, and of what they write it reads just a window that one of them writes.
bool shares_windows(const std::vector<Stage> &stages, const Stage &stage, const NpuConfig &npu);

/// Whether all columns of the rows that are written are, some rows have several windows, and rows that are read have no
/// columns between their windows that nobody may have written. `in_memory`: values of which all elements are there.
bool make_whole_rows(const std::vector<Stage> &stages, const std::vector<bool> &in_memory);

} // namespace gradweave::compiler
