#include "compiler/lower/tiling.hpp"
#include "compiler/lower/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace gradweave::compiler {

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

std::string verify_tiling(const TileShape &tile, const Layer &layer) {
  const auto check = [](char name, std::uint32_t side, std::uint32_t extent) -> std::string {
    if (side == 0 || side > extent || side > kMaxTileSide)
      return fmt::format("tile side {} of {} is {}, not 1 to {}", name, extent, side, std::min(extent, kMaxTileSide));
    return {};
  };
  for (const std::string &problem :
       {check('M', tile.m, layer.m), check('K', tile.k, layer.k), check('N', tile.n, layer.n)})
    if (!problem.empty()) return problem;
  return {};
}

} // namespace gradweave::compiler
