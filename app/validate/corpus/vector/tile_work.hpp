// Random work of a vector unit on the live tiles of a stream.
#pragma once

#include "app/validate/corpus/parts/live_tiles.hpp"
#include "app/validate/corpus/vector/unit_writer.hpp"

#include <optional>
#include <vector>

namespace gradweave::corpus {

/// Work, and the results that are new tiles.
struct TileWork {
  VectorWork work;
  std::vector<Object> results;
};

/// A random program, or one that the unit has, on windows of live tiles: by rows and by columns, repeated elements and
/// steps, elements replaced where they lie, results in parts of live tiles and in new ones. It reads what is defined
/// only, and nothing that it writes itself but in place. Nothing if chance finds no room.
std::optional<TileWork> draw_tile_work(LiveTiles &tiles, const UnitWriter &unit, std::uint32_t lanes, Dice &dice);

/// Turns of instructions that a program's run over so many strips and steps takes, a group of one strip each.
std::uint64_t turns_of(const isa::vector::Program &program, std::uint32_t steps);

} // namespace gradweave::corpus
