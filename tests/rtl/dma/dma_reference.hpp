// What a LOAD or STORE must do, written down naively: the bursts it is made of and where each element lies.
#pragma once

#include "isa/command.hpp"

#include <cstdint>
#include <random>
#include <vector>

namespace gradweave::dma_test {

struct Burst {
  std::uint64_t addr = 0; ///< bytes, aligned to the beat
  std::uint32_t beats = 0;
  std::uint32_t index = 0; ///< of the command
  bool operator==(const Burst &o) const { return addr == o.addr && beats == o.beats && index == o.index; }
};

/// Bursts of a tile in order: each row's beats, cut where a 4 KB page begins and after 256 beats.
std::vector<Burst> bursts_of(const isa::DmaCommand &c, std::uint32_t index, std::uint32_t bus_bytes);

inline std::uint32_t element_bytes(const isa::DmaCommand &c) { return c.fp32 ? 4 : 2; }

/// Scratchpad rows from the tile's first to behind its last.
std::uint32_t spm_extent(const isa::DmaCommand &c, std::uint32_t lanes);

/// Memory as bytes [base, base + size); counts writes of each byte.
struct Memory {
  Memory(std::uint64_t base_addr, std::size_t bytes) : base(base_addr), data(bytes), writes(bytes) {}
  std::uint8_t read(std::uint64_t addr) const { return data.at(place(addr)); }
  void write(std::uint64_t addr, std::uint8_t value) {
    data.at(place(addr)) = value;
    ++writes.at(place(addr));
  }
  std::uint64_t place(std::uint64_t addr) const { return repeats ? (addr - base) % data.size() : addr - base; }
  std::uint64_t base;
  bool repeats = false; ///< all over the address space: for rows that lie far apart
  std::vector<std::uint8_t> data;
  std::vector<std::uint32_t> writes;
};

/// Scratchpad rows of 16-bit lanes; an fp32 element lies in rows r (low half) and r + 1.
struct Spm {
  Spm(std::uint32_t spm_rows, std::uint32_t spm_lanes) : lanes(spm_lanes), data(spm_rows * spm_lanes) {}
  std::uint16_t &at(std::uint32_t row, std::uint32_t lane) { return data.at(row * lanes + lane); }
  std::uint32_t get(std::uint32_t row, std::uint32_t lane, bool fp32) {
    return at(row, lane) | (fp32 ? static_cast<std::uint32_t>(at(row + 1, lane)) << 16 : 0U);
  }
  void put(std::uint32_t row, std::uint32_t lane, bool fp32, std::uint32_t value) {
    at(row, lane) = static_cast<std::uint16_t>(value);
    if (fp32) at(row + 1, lane) = static_cast<std::uint16_t>(value >> 16);
  }
  std::uint32_t lanes;
  std::vector<std::uint16_t> data;
};

/// Calls visit(DRAM address, scratchpad row, lane) for every element, row by row.
template <typename Visit> void for_each_element(const isa::DmaCommand &c, std::uint32_t lanes, Visit visit) {
  for (std::uint32_t i = 0; i < c.rows; ++i)
    for (std::uint32_t j = 0; j < c.cols; ++j)
      visit(c.dram_addr + std::uint64_t{i} * c.pitch + std::uint64_t{j} * element_bytes(c),
            c.spm.row + j / lanes * c.spm.pstride + i * (c.fp32 ? 2 : 1), (c.spm.rot + i + j) % lanes);
}

/// Draws commands whose tiles lie in DRAM [base, base + bytes) and scratchpad rows [first_row, first_row + rows).
struct TileSpace {
  std::uint64_t base = 0, bytes = 0;
  std::uint32_t first_row = 0, rows = 0, lanes = 0;
};
isa::DmaCommand random_tile(const TileSpace &space, bool store, std::mt19937_64 &rng);

} // namespace gradweave::dma_test
