// A group's items as commands: a section of a stream.
#pragma once

#include "compiler/items/item_cut.hpp"
#include "compiler/items/item_jobs.hpp"
#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Where the matrices of a tile's items lie in memory.
struct ItemPlace {
  std::vector<std::uint64_t> addresses; ///< of each item, byte address of element (0, 0)
  std::uint32_t pitch = 0;              ///< bytes from row to row
};

/// Whether rows of a tile's items follow one another in memory, of some items at least.
bool lie_side_by_side(const ItemJobs &jobs, const std::vector<ItemPlace> &places, std::size_t tile);

/// The commands of all items. Chunks go through their turns one behind the other: in each turn the phases of the
/// earliest chunk come first. Elements that a buffer has already are not loaded again.
///
/// `places`: of each tile that is loaded or stored. The section uses the whole scratchpad, LOAD, STORE, core 0 and its
/// vector unit and program memory, and kOrderedSemaphores semaphores from `first_semaphore` on, which are zero before
/// and behind it. Whatever it does waits for its first LOADs, and these for nothing inside; once its last STORE has
/// completed, all of it has. The cut must fit (place_items()).
std::vector<isa::Command> item_commands(const ItemJobs &jobs, const std::vector<ItemPlace> &places, const ItemCut &cut,
                                        const NpuConfig &npu, std::uint32_t first_semaphore);

} // namespace gradweave::compiler
