// Tiles of a place of the scratchpad, and windows of them.
#pragma once

#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/stage/area.hpp"
#include "isa/command.hpp"

#include <cstdint>

namespace gradweave::compiler {

/// Element (row, column) as in any tile; rows count from the beginning of the place, lane 0 has element (0, 0).
struct PlaceTile {
  std::uint32_t row = 0, pstride = 0;
  bool fp32 = false;
};

/// A part of a tile: its first row and column, rows and columns.
struct Part {
  std::size_t row = 0, col = 0, rows = 1, cols = 1;
};

/// Places tiles one behind the other.
class PlaceLayout {
public:
  explicit PlaceLayout(std::uint32_t lanes) : lanes_(lanes) {}

  PlaceTile add(std::size_t rows, std::size_t cols, bool fp32 = false) {
    const std::size_t panel = round_up(rows * (fp32 ? 2 : 1), 2);
    const PlaceTile tile{static_cast<std::uint32_t>(next_), static_cast<std::uint32_t>(panel), fp32};
    next_ += panel * divide_up(cols, lanes_);
    return tile;
  }
  /// Rows of the scratchpad so far.
  std::size_t rows() const { return next_; }

private:
  std::uint32_t lanes_;
  std::size_t next_ = 0;
};

/// The part in a slot; lines are rows.
inline isa::VectorTile window(const PlaceTile &tile, const Part &part, std::uint32_t slot, std::uint32_t lanes) {
  isa::VectorTile v;
  v.slot = slot;
  v.spm.row = static_cast<std::uint32_t>(tile.row + part.col / lanes * tile.pstride + part.row * (tile.fp32 ? 2 : 1));
  v.spm.rot = static_cast<isa::Lane>(part.row % lanes);
  v.spm.pstride = tile.pstride;
  v.col = static_cast<std::uint32_t>(part.col % lanes);
  v.rows = static_cast<std::uint32_t>(part.rows);
  v.cols = static_cast<std::uint32_t>(part.cols);
  v.fp32 = tile.fp32;
  return v;
}

/// A transfer's tile at a row of it, in columns that begin with panel `panel`.
inline isa::SpmTile transfer_tile(const PlaceTile &tile, std::size_t row, std::size_t panel, std::uint32_t lanes) {
  isa::SpmTile spm;
  spm.row = static_cast<std::uint32_t>(tile.row + panel * tile.pstride + row * (tile.fp32 ? 2 : 1));
  spm.pstride = tile.pstride;
  spm.rot = static_cast<isa::Lane>(row % lanes);
  return spm;
}

} // namespace gradweave::compiler
