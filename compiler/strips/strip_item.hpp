// What strips consist of: runs with what they load before and store behind.
#pragma once

#include "compiler/items/ordered_commands.hpp"
#include "isa/command.hpp"
#include "isa/vector/program.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

struct StripLoad {
  isa::DmaCommand dma;
  RegionRange regions;
  std::size_t from = 0;   ///< item that may have it before its runs, as those before are done with the place
  std::size_t before = 0; ///< item whose runs it has to stand before
};

struct StripStore {
  isa::DmaCommand dma;
  RegionRange regions;
};

struct StripRun {
  std::size_t program = 0; ///< which of StripItems::programs
  std::uint32_t elements = 1, steps = 1;
  std::vector<isa::VectorTile> tiles;
  std::vector<RegionRange> reads, writes;
  std::uint64_t cycles = 0; ///< of the lanes, nearly
};

struct StripItem {
  std::vector<StripRun> runs;
  std::vector<StripStore> stores;
};

struct StripItems {
  std::vector<isa::vector::Words> programs;
  std::vector<StripLoad> loads; ///< in order
  std::vector<StripItem> items;
};

} // namespace gradweave::compiler
