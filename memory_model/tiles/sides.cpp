#include "memory_model/tiles/sides.hpp"

#include <algorithm>

namespace gradweave::memory_model {
namespace {

constexpr std::uint32_t kLongest = 65535; ///< of a tile: fields of commands have 16 bits
constexpr std::uint32_t kShortest = 8;    ///< that is looked at: shorter tiles have no use but that they fit

void make_distinct(std::vector<std::uint32_t> &sides) {
  std::sort(sides.begin(), sides.end());
  sides.erase(std::unique(sides.begin(), sides.end()), sides.end());
}

/// Parts of `extent`, fewer and fewer of them apart the more there are.
std::vector<std::uint32_t> parts_of(std::uint32_t extent, std::uint32_t block, std::uint32_t beat) {
  std::vector<std::uint32_t> sides;
  const auto add = [&](std::uint32_t side) { sides.push_back(std::clamp(side, 1U, std::min(extent, kLongest))); };
  const std::uint32_t blocks = divide_up(extent, block);
  for (std::uint32_t parts = 1; parts <= blocks; parts += std::max(1U, parts / 3)) {
    add(divide_up(blocks, parts) * block);
    add(divide_up(divide_up(extent, parts), beat) * beat);
  }
  for (std::uint32_t side = block; side >= kShortest; side /= 2)
    add(side);
  make_distinct(sides);
  return sides;
}

std::vector<Side> plain(const std::vector<std::uint32_t> &parts) {
  std::vector<Side> sides;
  for (const std::uint32_t part : parts)
    sides.push_back({part, part});
  return sides;
}

std::vector<Side> whole_rows(const compiler::Layer &layer, const NpuConfig &npu) {
  const std::uint32_t width = layer.conv->out_width(), all = layer.m / width;
  std::vector<std::uint32_t> rows = parts_of(all, 1, 1);
  for (std::uint32_t blocks = 1; blocks * npu.rows < layer.m; blocks += std::max(1U, blocks / 3))
    rows.push_back(std::clamp(blocks * npu.rows / width, 1U, all));
  for (std::uint32_t &count : rows)
    count = std::max(1U, std::min(count, kLongest / width)) * width;
  make_distinct(rows);
  return plain(rows);
}

/// Of a reduction over taps of so many channels.
std::vector<Side> over_taps(const compiler::Layer &layer, std::uint32_t channels, std::uint32_t block,
                            std::uint32_t beat) {
  const std::uint32_t taps = taps_of(layer), width = layer.conv->kernel_width;
  std::vector<Side> sides;
  for (const std::uint32_t part : parts_of(channels, block, beat))
    if (part < channels) sides.push_back({part * taps, part});
  for (std::uint32_t tap = 1; tap < width; ++tap)
    sides.push_back({tap * channels, channels});
  for (std::uint32_t row = 1; row <= layer.conv->kernel_height; ++row)
    sides.push_back({row * width * channels, channels});
  return sides;
}

} // namespace

std::uint32_t taps_of(const compiler::Layer &layer) {
  return layer.image ? layer.conv->kernel_height * layer.conv->kernel_width : 1;
}

Sides sides_of(const compiler::Layer &layer, Way way, const NpuConfig &npu) {
  const std::uint32_t beat = npu.bus_bytes / 2, channels = layer.k / taps_of(layer);
  const std::uint32_t k_block = way == Way::kForward ? npu.cols : npu.rows;
  if (!layer.image)
    return {plain(parts_of(layer.m, npu.rows, beat)), plain(parts_of(layer.k, k_block, beat)),
            plain(parts_of(layer.n, npu.cols, beat))};
  Sides sides{whole_rows(layer, npu), {}, {}};
  const bool reduces_n = way == Way::kBackward && layer.dx;
  sides[kK] =
      way == Way::kForward ? over_taps(layer, channels, k_block, beat) : plain(parts_of(channels, k_block, beat));
  sides[kN] = reduces_n ? over_taps(layer, layer.n, npu.cols, beat) : plain(parts_of(layer.n, npu.cols, beat));
  return sides;
}

} // namespace gradweave::memory_model
