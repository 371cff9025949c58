// Tiles, their products, and the loops that walk them.
#pragma once

#include "compiler/request/names.hpp"
#include "graph/network.hpp"

#include <array>
#include <cstdint>

namespace gradweave::compiler {

/// Rows of W in runs, each a tap's: `across` taps side by side, then those of the next row of the kernel.
struct TapRuns {
  std::uint32_t rows = 0;   ///< of a run; 0: all rows are one
  std::uint16_t across = 1; ///< taps
  std::uint16_t right = 1;  ///< taps of the kernel from one to the next
  std::uint16_t down = 0;   ///< and from a row to the next
  bool operator==(const TapRuns &o) const {
    return rows == o.rows && across == o.across && right == o.right && down == o.down;
  }
};

/// Pixels that are lines of a grid in the scratchpad (docs/convolution.md), and do not follow one another there as they
/// do in memory.
struct PixelGrid {
  std::uint16_t width = 0, height = 0;           ///< of the tensor's images; 0: rows simply follow one another
  std::uint16_t grid_width = 0, grid_height = 0; ///< lines of a row, rows of an image
  std::uint8_t stride = 1;                       ///< phases a side: all are there as planes, one after the other,
  std::uint8_t phase = 0;                        ///< or, if not 0, one: row, column = (phase - 1) / stride, % stride
  bool operator==(const PixelGrid &o) const {
    return width == o.width && height == o.height && grid_width == o.grid_width && grid_height == o.grid_height &&
           stride == o.stride && phase == o.phase;
  }
};

/// A rectangle of elements of a tensor; or the same of some taps or channels of W; or of the pixels of a phase, whose
/// rows count those of the phase only, in all images.
struct Rect {
  std::uint32_t row = 0, col = 0, rows = 0, cols = 0;
  TapRuns taps = {};
  PixelGrid pixels = {};
  bool operator==(const Rect &o) const {
    return row == o.row && col == o.col && rows == o.rows && cols == o.cols && taps == o.taps && pixels == o.pixels;
  }
};

/// Tile sizes along M, K and N; tiles at the far edges are smaller.
struct TileShape {
  std::uint32_t m = 0, k = 0, n = 0;
  bool operator==(const TileShape &o) const { return m == o.m && k == o.k && n == o.n; }
};

/// Largest tile side: a command's size fields have 16 bits.
inline constexpr std::uint32_t kMaxTileSide = 65535;

/// One GEMM command's worth of work: the part of `result` (kY, kDX or kDW) that the ranges of M, K and N contribute. Or
/// an ADD command's: it adds part `part` of the reduction, whose range it names, to the sum of the parts before.
struct TileProduct {
  Tensor result{};
  std::uint8_t core = 0;
  bool add = false;
  /// The reduction takes channels in blocks, all taps of each (ReductionPlans::block); this product has some of them.
  bool blocked = false;
  /// Piece `m` of the vector unit's section for the result (VectorSection): no ranges.
  bool vector = false;
  /// First indices, in the group. Of dX of a layer that reads images with a stride M counts pixels phase by phase, and
  /// N the terms of the taps that meet the product's phase.
  std::uint32_t m = 0, k = 0, n = 0;
  std::uint32_t m_size = 0, k_size = 0, n_size = 0; ///< lengths
  std::uint32_t group = 0;
  std::uint32_t part = 0;  ///< of the result's reduction plan
  std::uint32_t layer = 0; ///< index among the layers compiled together
  /// Rows of the grid that the tile of the image it reads is of: its own, and those of cores that take turns with it.
  /// Of products that read none, or their own rows only, 0.
  std::uint32_t band = 0, band_size = 0;
};

enum class Dim : std::uint8_t { kM, kK, kN };
using LoopOrder = std::array<Dim, 3>; ///< outermost first

/// What one phase of a layer computes.
enum class PhaseKind { kForward, kDx, kDw, kInterleave, kDxMajor, kDwMajor };

/// A part of a layer's index space: groups, and M, K and N in each of them, from a first index to one past the last. Of
/// a layer that reads images M counts lines of its grid and K channels, and taps are whole in any region.
struct Region {
  std::uint32_t g = 0, g_end = 0, m = 0, m_end = 0, k = 0, k_end = 0, n = 0, n_end = 0;
};

} // namespace gradweave::compiler
