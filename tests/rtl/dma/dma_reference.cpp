#include "dma_reference.hpp"

#include <algorithm>

namespace gradweave::dma_test {

namespace {

/// lo to hi, both included.
std::uint32_t draw(std::mt19937_64 &rng, std::uint32_t lo, std::uint32_t hi) {
  return std::uniform_int_distribution<std::uint32_t>(lo, hi)(rng);
}

std::uint32_t draw_cols(std::mt19937_64 &rng, std::uint32_t lanes) {
  switch (draw(rng, 0, 9)) {
  case 0:
    return 1;
  case 1:
    return draw(rng, 2, 3);
  case 2:
    return lanes;
  case 3:
    return draw(rng, 1, 100 * lanes); // bursts of 256 beats on narrow buses
  case 4:
    return draw(rng, 1, 6) * lanes;
  case 5:
  case 6:
    return draw(rng, lanes, 4 * lanes);
  default:
    return draw(rng, 2, lanes);
  }
}

} // namespace

std::vector<Burst> bursts_of(const isa::DmaCommand &c, std::uint32_t index, std::uint32_t bus_bytes) {
  std::vector<Burst> bursts;
  for (std::uint32_t i = 0; i < c.rows; ++i) {
    std::uint64_t begin = c.dram_addr + std::uint64_t{i} * c.pitch;
    std::uint64_t end = begin + std::uint64_t{c.cols} * element_bytes(c);
    bool open = false;
    for (std::uint64_t beat = begin / bus_bytes * bus_bytes; beat < end; beat += bus_bytes) {
      if (!open || beat % 4096 == 0 || bursts.back().beats == 256) bursts.push_back({beat, 0, index});
      open = true;
      ++bursts.back().beats;
    }
  }
  return bursts;
}

std::uint32_t spm_extent(const isa::DmaCommand &c, std::uint32_t lanes) {
  return (c.cols - 1) / lanes * c.spm.pstride + c.rows * (c.fp32 ? 2 : 1);
}

isa::DmaCommand random_tile(const TileSpace &space, bool store, std::mt19937_64 &rng) {
  isa::DmaCommand c;
  do {
    c.store = store;
    c.fp32 = draw(rng, 0, 2) == 0;
    c.cols = draw_cols(rng, space.lanes);
    c.rows = draw(rng, 0, 3) == 0 ? 1 : c.cols < 4 ? draw(rng, 1, 60) : draw(rng, 1, 12);
    std::uint32_t unit = c.fp32 ? 2 : 1;
    // Several panels need their distance; a single one must not care.
    c.spm.pstride = unit * (c.cols > space.lanes ? draw(rng, c.rows, c.rows + 3) : draw(rng, 0, isa::kMaxSpmRows / 2));
  } while (spm_extent(c, space.lanes) > space.rows);

  std::uint32_t bytes = element_bytes(c);
  std::uint32_t row_bytes = c.cols * bytes;
  auto limit = static_cast<std::uint32_t>(c.rows > 1 ? (space.bytes - row_bytes) / (c.rows - 1) : 0xFFFFFFFF);
  // Gapless, a little apart, far apart, and rows that overlap.
  switch (draw(rng, 0, 3)) {
  case 0:
    c.pitch = row_bytes;
    break;
  case 1:
    c.pitch = row_bytes + bytes * draw(rng, 0, 70);
    break;
  case 2:
    c.pitch = bytes * draw(rng, 0, limit / bytes);
    break;
  default:
    c.pitch = bytes * draw(rng, 0, c.cols);
    break;
  }
  c.pitch = std::min(c.pitch, limit / bytes * bytes);
  std::uint64_t room = space.bytes - row_bytes - std::uint64_t{c.rows - 1} * c.pitch;
  std::uint64_t offset = draw(rng, 0, static_cast<std::uint32_t>(room));
  if (draw(rng, 0, 3) == 0) offset = offset / 4096 * 4096 + std::min<std::uint64_t>(room % 4096, draw(rng, 0, 64));
  c.dram_addr = space.base + std::min(offset, room) / bytes * bytes;
  std::uint32_t unit = c.fp32 ? 2 : 1;
  c.spm.row = space.first_row + draw(rng, 0, (space.rows - spm_extent(c, space.lanes)) / unit) * unit;
  c.spm.rot = static_cast<isa::Lane>(draw(rng, 0, space.lanes - 1));
  return c;
}

} // namespace gradweave::dma_test
