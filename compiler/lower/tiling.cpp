#include "compiler/lower/tiling.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/lower/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace gradweave::compiler {
namespace {

/// Sum of f(tile side) over the tiles that cut `extent`.
template <typename F> double sum_tiles(std::uint32_t extent, std::uint32_t side, F f) {
  const std::uint32_t whole = extent / side, rest = extent % side;
  return static_cast<double>(whole) * static_cast<double>(f(side)) + (rest ? static_cast<double>(f(rest)) : 0.0);
}

double gemm_cycles(std::uint32_t rows, std::uint32_t row_side, std::uint32_t cols, std::uint32_t col_side,
                   std::uint32_t red, std::uint32_t red_side, const NpuConfig &npu) {
  return sum_tiles(rows, row_side, [&](auto s) { return divide_up(s, npu.rows); }) *
         sum_tiles(cols, col_side, [&](auto s) { return divide_up(s, npu.cols); }) *
         sum_tiles(red, red_side, [&](auto s) { return std::max(s, shortest_block(npu)); });
}

} // namespace

std::uint32_t spm_rows(std::uint32_t rows, std::uint32_t cols, bool fp32, std::uint32_t lanes) {
  const std::uint64_t panels = divide_up(cols, lanes);
  const std::uint64_t total = round_up(panels * rows * (fp32 ? 2 : 1), 2);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(total, 0xfffffffe));
}

std::uint32_t shortest_block(const NpuConfig &npu) { return std::max(2 * npu.rows + 4, npu.rows + npu.cols + 2); }

std::uint64_t block_count(std::uint32_t rows, std::uint32_t cols, const NpuConfig &npu) {
  return divide_up(rows, npu.rows) * divide_up(cols, npu.cols);
}

std::vector<std::uint32_t> tile_sides(std::uint32_t extent, std::uint32_t unit, std::uint32_t beat) {
  std::vector<std::uint32_t> sides;
  const auto add = [&](std::uint64_t side) {
    sides.push_back(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(side, 1, std::min(extent, kMaxTileSide))));
  };
  // Splits into c parts, c dense at first and then geometric: whole blocks, whole beats, and exactly even.
  const std::uint64_t blocks = divide_up(extent, unit);
  for (std::uint64_t parts = 1; parts <= blocks; parts += std::max<std::uint64_t>(1, parts / 4)) {
    add(divide_up(blocks, parts) * unit);
    add(round_up(divide_up(extent, parts), beat));
  }
  // Parts of a block: wasteful, for scratchpads that hold no more.
  for (std::uint64_t side = unit; side > 0; side /= 2)
    add(side);
  std::sort(sides.begin(), sides.end(), std::greater<>());
  sides.erase(std::unique(sides.begin(), sides.end()), sides.end());
  return sides;
}

std::uint32_t array_side(PhaseKind kind, Dim dim, const NpuConfig &npu) {
  const bool rows = dim == Dim::kM || dim == contraction_of(form_of(kind).results.front()).row;
  return rows ? npu.rows : npu.cols;
}

std::uint64_t phase_cycles(PhaseKind kind, const TileShape &t, const Layer &l, const NpuConfig &npu) {
  double cycles = 0;
  for (const Tensor result : form_of(kind).results) {
    const Contraction &c = contraction_of(result);
    cycles += gemm_cycles(extent_of(l, c.row), side_of(t, c.row), extent_of(l, c.col), side_of(t, c.col),
                          extent_of(l, c.red), side_of(t, c.red), npu);
  }
  return static_cast<std::uint64_t>(cycles) * l.groups;
}

} // namespace gradweave::compiler
