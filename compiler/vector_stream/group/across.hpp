// Chains along the lanes of a group: a sum over the rows of which other stages take some at a time.
#pragma once

#include "compiler/vector_stream/group/chain.hpp"
#include "compiler/vector_stream/group/stage.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstddef>
#include <map>
#include <optional>

namespace gradweave::compiler {

/// A chain's stage with its steps as lanes, in which it can be cut (Stage::across); nothing if it has more than one
/// loop, gives more than numbers a lane, or has no tiles for what its parts hand on.
std::optional<Stage> across_of(const Stage &chain);

/// The part of such a stage's program for `count` of its lanes from `lane` on.
ChainPart part_across(const Stage &stage, std::size_t lane, std::size_t count);

/// The registers that parts hand on: the place of each in what keeps them, a line of all the chain's lanes each.
std::map<unsigned, std::size_t> handed_on(const Stage &stage);

/// Rows of the scratchpad for what a stage's parts hand on.
std::size_t rows_handed_on(const Stage &stage, const NpuConfig &npu);

} // namespace gradweave::compiler
