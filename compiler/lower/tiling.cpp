#include "compiler/lower/tiling.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/cut.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/lower/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace gradweave::compiler {
namespace {

/// Each once, descending.
std::vector<std::uint32_t> distinct(std::vector<std::uint32_t> sides) {
  std::sort(sides.begin(), sides.end(), std::greater<>());
  sides.erase(std::unique(sides.begin(), sides.end()), sides.end());
  return sides;
}

/// Of dX, whose phases have different taps.
double phases_cycles(Tensor result, const TileShape &t, const Layer &layer, const NpuConfig &npu) {
  const std::vector<IndexRange> terms = ranges_along(layer, result, Dim::kN, t.n, whole(layer));
  double cycles = 0;
  for (const IndexRange &pixels : ranges_along(layer, result, Dim::kM, t.m, whole(layer))) {
    double steps = 0;
    for (const IndexRange &range : terms)
      steps += std::max(terms_at(layer, result, pixels.first, range).size, shortest_block(npu));
    cycles += steps * static_cast<double>(divide_up(lines_of(layer, result, pixels), npu.rows));
  }
  return cycles * sum_ranges(layer, result, Dim::kK, t.k, [&](auto s) { return divide_up(s, npu.cols); });
}

double product_cycles(Tensor result, const TileShape &t, const Layer &layer, const NpuConfig &npu) {
  if (splits_phases(layer, result)) return phases_cycles(result, t, layer, npu);
  const Contraction &c = contraction_of(result);
  const auto sum = [&](Dim dim, auto f) { return sum_ranges(layer, result, dim, side_of(t, dim), f); };
  return sum(c.row, [&](auto s) { return divide_up(s, npu.rows); }) *
         sum(c.col, [&](auto s) { return divide_up(s, npu.cols); }) *
         sum(c.red, [&](auto s) { return std::max(s, shortest_block(npu)); });
}

} // namespace

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
  return distinct(std::move(sides));
}

TileShape largest_tile(PhaseKind kind, const Layer &layer) {
  TileShape largest{0, 0, 0};
  for (const Tensor result : form_of(kind).results) {
    largest.m = std::max(largest.m, extent_of(layer, result, Dim::kM));
    largest.n = std::max(largest.n, extent_of(layer, result, Dim::kN));
    // A tile of dW that is read from images has one tap's rows.
    const bool one_tap = layer.image && takes_one_tap(result);
    largest.k = std::max(largest.k, one_tap ? tap_channels(layer, result) : extent_of(layer, result, Dim::kK));
  }
  if (layer.image) largest.m = whole(layer).m_end; // lines
  return largest;
}

namespace {

std::vector<std::uint32_t> image_sides(PhaseKind kind, Dim dim, const Layer &layer, std::uint32_t unit,
                                       std::uint32_t beat) {
  if (dim == Dim::kM) {
    const std::uint32_t width = line_width(layer), all = grid_rows(layer);
    std::vector<std::uint32_t> sides = tile_sides(all, 1, 1);
    // Whole rows that fill whole blocks of the array best.
    for (std::uint32_t blocks = 1; blocks * unit < all * width; blocks += std::max(1U, blocks / 4))
      sides.push_back(std::clamp(blocks * unit / width, 1U, all));
    for (std::uint32_t &side : sides)
      side = std::min(side, kMaxTileSide / width) * width;
    return distinct(std::move(sides));
  }
  const std::uint32_t extent = side_of(largest_tile(kind, layer), dim);
  const std::uint32_t taps = taps_of(layer), width = layer.conv->kernel_width;
  const std::vector<Tensor> &results = form_of(kind).results;
  const bool over_taps = std::any_of(results.begin(), results.end(), [&](Tensor result) {
    return !takes_one_tap(result) && contraction_of(result).red == dim;
  });
  if (!over_taps) return tile_sides(extent, unit, beat);
  const std::uint32_t channels = extent / taps;
  std::vector<std::uint32_t> sides{extent};
  const bool phases = std::any_of(results.begin(), results.end(), [&](Tensor r) { return splits_phases(layer, r); });
  if (!phases) { // which have all the taps that meet them
    for (std::uint32_t row = layer.conv->kernel_height; row > 0; --row)
      sides.push_back(row * width * channels);
    for (std::uint32_t tap = width; --tap > 0;)
      sides.push_back(tap * channels);
  }
  if (!phases || layer.channel_blocks)
    for (const std::uint32_t side : tile_sides(channels, unit, beat))
      sides.push_back(side);
  return distinct(std::move(sides));
}

} // namespace

std::vector<std::uint32_t> sides_along(PhaseKind kind, Dim dim, const Layer &layer, const NpuConfig &npu) {
  const std::uint32_t unit = array_side(kind, dim, npu), beat = npu.bus_bytes / 2;
  if (layer.image) return image_sides(kind, dim, layer, unit, beat);
  return tile_sides(side_of(largest_tile(kind, layer), dim), unit, beat);
}

std::uint32_t array_side(PhaseKind kind, Dim dim, const NpuConfig &npu) {
  const bool rows = dim == Dim::kM || dim == contraction_of(form_of(kind).results.front()).row;
  return rows ? npu.rows : npu.cols;
}

std::uint64_t phase_cycles(PhaseKind kind, const TileShape &t, const Layer &l, const NpuConfig &npu) {
  double cycles = 0;
  for (const Tensor result : form_of(kind).results)
    cycles += product_cycles(result, t, l, npu);
  return static_cast<std::uint64_t>(cycles) * l.groups;
}

} // namespace gradweave::compiler
