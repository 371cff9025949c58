// What a tile takes of the scratchpad and of the array, and tile sizes worth trying.
#pragma once

#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/contraction.hpp"
#include "sw_models/config/npu_config.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Scratchpad rows of a tile in the skewed panel layout, rounded to even so that every base is fit for fp32.
inline std::uint32_t spm_rows(std::uint32_t rows, std::uint32_t cols, bool fp32, std::uint32_t lanes) {
  const std::uint64_t panels = divide_up(cols, lanes);
  const std::uint64_t total = round_up(panels * rows * (fp32 ? 2 : 1), 2);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(total, 0xfffffffe));
}

/// Array cycles of a block at least: results must leave the shadow chain before the next block's can enter.
inline std::uint32_t shortest_block(const NpuConfig &npu) {
  return std::max(2 * npu.rows + 4, npu.rows + npu.cols + 2);
}

/// Blocks of ROWS x COLS results of a tile product.
inline std::uint64_t block_count(std::uint32_t rows, std::uint32_t cols, const NpuConfig &npu) {
  return divide_up(rows, npu.rows) * divide_up(cols, npu.cols);
}

/// Tile sides worth trying along a dimension of `extent`, descending, from the whole dimension down to 1. `unit` is the
/// array side (ROWS, COLS) that blocks along this dimension fill; `beat` the elements of a bus beat.
std::vector<std::uint32_t> tile_sides(std::uint32_t extent, std::uint32_t unit, std::uint32_t beat);

/// The largest tile that a phase can have: one that has all of each dimension.
TileShape largest_tile(PhaseKind kind, const Layer &layer);

/// Tile sides worth trying along a dimension of a phase, descending: as above, and of a layer that reads images whole
/// rows of pixels, rows of the kernel, taps, and channels of all taps.
std::vector<std::uint32_t> sides_along(PhaseKind kind, Dim dim, const Layer &layer, const NpuConfig &npu);

/// The array side that tiles of a phase fill along a dimension: ROWS along M and along the rows of a result by itself,
/// else COLS.
std::uint32_t array_side(PhaseKind kind, Dim dim, const NpuConfig &npu);

/// Cycles of the phase on one core by the block formula.
std::uint64_t phase_cycles(PhaseKind kind, const TileShape &tile, const Layer &layer, const NpuConfig &npu);

} // namespace gradweave::compiler
