// Which cut of a group's items takes the fewest cycles.
#pragma once

#include "compiler/items/item_commands.hpp"
#include "sw_models/config/machine.hpp"

#include <optional>

namespace gradweave::compiler {

/// Tries chunks of all sizes that make another number of chunks, which end where a shared tile changes or not, phases
/// one after the other and overlapping, and, as long as one saves cycles, more buffers and fewer tiles whose items lie
/// side by side, on the timing model. Empty if not even one item fits, or the programs do not fit the program memory.
std::optional<ItemCut> choose_cut(const ItemJobs &jobs, const std::vector<ItemPlace> &places, const Machine &npu);

/// Whether there is a cut at all.
bool has_cut(const ItemJobs &jobs, const NpuConfig &npu);

} // namespace gradweave::compiler
