// Strips of columns as commands: a section of a stream.
#pragma once

#include "compiler/strips/strip_jobs.hpp"
#include "compiler/strips/strip_layout.hpp"
#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Strip by strip, pass by pass, part by part; LOADs stand as early as their places are free, so that those of the next
/// strip go beside the runs of the one at hand. What a part keeps in the scratchpad from pass to pass is not loaded
/// again.
///
/// `addresses`: of each value of the jobs, the byte address of element 0. The section uses the whole scratchpad, LOAD,
/// STORE, core 0's vector unit and its program memory, and kOrderedSemaphores (items/ordered_commands.hpp) from
/// `first_semaphore` on, which are zero before and behind it. Whatever it does waits for its first LOADs, and these for
/// nothing inside; once its last STORE has completed, all of it has. Empty if it does not fit: the scratchpad, the
/// program memory, or the tiles that a chain over parts may have.
std::vector<isa::Command> strip_commands(const StripJobs &jobs, const OpJobs &of, const StripCut &cut,
                                         const std::vector<std::uint64_t> &addresses, const NpuConfig &npu,
                                         std::uint32_t first_semaphore);

} // namespace gradweave::compiler
