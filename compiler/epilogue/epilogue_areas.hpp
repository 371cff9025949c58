// Areas of epilogues: what is loaded, run and stored for a part of a result tile.
#pragma once

#include "compiler/epilogue/epilogue.hpp"
#include "compiler/epilogue/epilogue_tiles.hpp"
#include "isa/command.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// A run of a program.
struct EpilogueRun {
  std::size_t program = 0; ///< which of EpilogueAreas::programs
  std::uint32_t elements = 1, steps = 1;
  std::vector<isa::VectorTile> tiles;
};

struct EpilogueArea {
  std::vector<isa::DmaCommand> loads, stores;
  std::vector<EpilogueRun> runs;
};

/// The areas of all result tiles: area n takes place n mod kEpiloguePlaces.
struct EpilogueAreas {
  std::vector<isa::vector::Words> programs;
  std::vector<EpilogueArea> areas;
  std::vector<std::size_t> ends; ///< of each result tile: one past its last area
};

/// A place keeps rows and numbers that the next area in it reads, too: they are not loaded again. No areas: an epilogue
/// does not fit.
EpilogueAreas epilogue_areas(const std::vector<isa::Command> &product, const std::vector<ResultStore> &stores,
                             const std::vector<Epilogue> &epilogues, const EpilogueRoom &room, const NpuConfig &npu);

} // namespace gradweave::compiler
