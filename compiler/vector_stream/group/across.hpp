// Chains along the lanes of a group: a sum over the rows of which other stages take some at a time.
#pragma once

#include "compiler/vector/chain.hpp"
#include "compiler/vector_stream/group/group.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace gradweave::compiler {

/// A chain's stage with its steps as lanes, in which it can be cut (Stage::across); nothing if it has more than one
/// loop, gives more than numbers a lane, or has no tiles for what its parts hand on.
std::optional<Stage> across_of(const Stage &chain);

/// The part of such a stage's program for `count` of its lanes from `lane` on.
ChainPart part_across(const Stage &stage, std::size_t lane, std::size_t count);

/// The registers that parts hand on: the place of each in what keeps them, a line of all the chain's lanes each.
std::map<unsigned, std::size_t> handed_on(const Stage &stage);

/// What a stage's part of a chain sees of the tiles of its area; `s`: the stage, among the group's.
std::vector<isa::VectorTile> views_across(const Stage &stage, const ChainPart &part, const GroupTiles &tiles,
                                          std::size_t s);

/// Takes from the tiles of an area that is not the last one the results of chains across the lanes.
void leave_sums(const JobGroup &group, GroupTiles &tiles);

/// Where registers lie that parts of a chain hand on, two rows of the scratchpad a strip each.
struct HandedOn {
  std::map<unsigned, std::size_t> places;
  std::size_t first_row = 0, strips = 1, lanes = 1;
};
/// The tiles behind a part's operands and results: those that it restores, then those that it saves.
std::vector<isa::VectorTile> tiles_handed_on(const ChainPart &part, const HandedOn &lines);

/// Rows of the scratchpad for what a stage's parts hand on.
std::size_t rows_handed_on(const Stage &stage, const NpuConfig &npu);

} // namespace gradweave::compiler
