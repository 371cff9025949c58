// Jobs of the vector unit as commands: a section of a stream.
#pragma once

#include "compiler/vector/job.hpp"
#include "compiler/vector_stream/cut/job_commands_error.hpp"
#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// A semaphore that no section uses: for the barrier between sections.
inline std::uint8_t barrier_semaphore(const NpuConfig &npu) { return static_cast<std::uint8_t>(npu.semaphores - 1); }

/// The commands of all steps of the jobs, a section. `addresses`: of each of OpJobs::values, the byte address of
/// element 0 in memory; values lie row-major and without gaps, an element takes the bytes of its type. Values between
/// jobs lie in memory, too.
///
/// A section uses the whole scratchpad, the LOAD and STORE engines, core 0's vector unit and its program memory, and
/// seven semaphores from `first_semaphore` on, which are zero before and behind it: a semaphore belongs to a pair of
/// engines in all of a stream, so other parts of it that have products need the numbers before. Whatever it does waits
/// for its first LOAD, and that for nothing inside; once its last STORE has completed, all of it has. So sections that
/// follow one another, and other parts of a stream of which the same holds, need one barrier between them: a SYNC of
/// the STORE engine that posts a semaphore, and a SYNC of the LOAD engine that waits for it. PROGRAMs and TILEs do not
/// wait: no part of a stream may rely on what the vector unit holds of another.
///
/// Throws JobCommandsError if the NPU has no vector unit, or not enough scratchpad.
std::vector<isa::Command> job_commands(const OpJobs &jobs, const std::vector<std::uint64_t> &addresses,
                                       const Machine &npu, std::uint8_t first_semaphore = 0);

} // namespace gradweave::compiler
