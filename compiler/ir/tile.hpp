// Tiles, their products, and the loops that walk them.
#pragma once

#include "compiler/request/names.hpp"
#include "graph/network.hpp"

#include <array>
#include <cstdint>

namespace gradweave::compiler {

/// A rectangle of elements of a tensor; or the same of some channels of every tap of W, whose rows are `rows` in all,
/// in runs of `run`, a tap's channels apart.
struct Rect {
  std::uint32_t row = 0, col = 0, rows = 0, cols = 0;
  std::uint32_t run = 0; ///< 0: one run
  bool operator==(const Rect &o) const {
    return row == o.row && col == o.col && rows == o.rows && cols == o.cols && run == o.run;
  }
  std::uint32_t runs() const { return run == 0 ? 1 : rows / run; }
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
  std::uint32_t m = 0, k = 0, n = 0;                ///< first indices, in the group
  std::uint32_t m_size = 0, k_size = 0, n_size = 0; ///< lengths
  std::uint32_t group = 0;
  std::uint32_t part = 0;  ///< of the result's reduction plan
  std::uint32_t layer = 0; ///< index among the layers compiled together
  std::uint8_t core = 0;
  bool add = false;
  /// The reduction takes channels in blocks, all taps of each (ReductionPlans::block); this product has some of them.
  bool blocked = false;
  /// Lines that the tile of the image it reads is of: its own, and those of cores that take turns with it. Of products
  /// that read none, or their own lines only, 0.
  std::uint32_t band = 0, band_size = 0;
};

enum class Dim : std::uint8_t { kM, kK, kN };
using LoopOrder = std::array<Dim, 3>; ///< outermost first

/// What one phase of a layer computes.
enum class PhaseKind { kForward, kDx, kDw, kInterleave, kDxMajor, kDwMajor };

/// A part of a layer's index space: groups, and M, K and N in each of them, from a first index to one past the last.
struct Region {
  std::uint32_t g = 0, g_end = 0, m = 0, m_end = 0, k = 0, k_end = 0, n = 0, n_end = 0;
};
/// Of a layer that reads images K counts channels, and taps are whole in any region.
inline Region whole(const Layer &layer) {
  const std::uint32_t k = layer.image ? layer.conv->group_channels() : layer.k;
  return {0, layer.groups, 0, layer.m, 0, k, 0, layer.n};
}

} // namespace gradweave::compiler
