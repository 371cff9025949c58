// Tile sizes, and what a tile takes of the scratchpad.
#pragma once

#include "compiler/compiler.hpp"

namespace gradweave::compiler {

/// A rectangle of elements of a tensor.
struct Rect {
  std::uint32_t row = 0, col = 0, rows = 0, cols = 0;
  bool operator==(const Rect &o) const { return row == o.row && col == o.col && rows == o.rows && cols == o.cols; }
};

/// Tile sizes along M, K and N; tiles at the far edges are smaller.
struct TileShape {
  std::uint32_t m = 0, k = 0, n = 0;
  bool operator==(const TileShape &o) const { return m == o.m && k == o.k && n == o.n; }
};

/// Largest tile side: a command's size fields have 16 bits.
inline constexpr std::uint32_t kMaxTileSide = 65535;

/// Scratchpad rows of a tile in the skewed panel layout, rounded to even so that every base is fit for fp32.
std::uint32_t spm_rows(std::uint32_t rows, std::uint32_t cols, bool fp32, std::uint32_t lanes);

/// Array cycles of a block at least: results must leave the shadow chain before the next block's can enter.
std::uint32_t shortest_block(const NpuConfig &npu);

/// Blocks of ROWS x COLS results of a tile product.
std::uint64_t block_count(std::uint32_t rows, std::uint32_t cols, const NpuConfig &npu);

/// Tile sides worth trying along a dimension of `extent`, descending, from the whole dimension down to 1. `unit` is the
/// array side (ROWS, COLS) that blocks along this dimension fill; `beat` the elements of a bus beat.
std::vector<std::uint32_t> tile_sides(std::uint32_t extent, std::uint32_t unit, std::uint32_t beat);

/// Empty if the tile sizes are legal for the layer, else what is wrong.
std::string verify_tiling(const TileShape &tile, const Layer &layer);

} // namespace gradweave::compiler
