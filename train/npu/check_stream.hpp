// Whether a step's stream is safe whatever the timing, from its commands alone.
#pragma once

#include "train/npu/step_sections.hpp"

#include <string>

namespace gradweave::runtime::train {

/// Empty, or the first thing that is wrong, with op, section and command: a command that the hardware refuses; waits
/// and posts that are no legal serial order, or do not pair; a hazard in the scratchpad; a LOAD that another section's
/// STORE to the same page of memory need not come before, or a STORE that another section's LOAD need not; a LOAD and a
/// STORE of one section that touch the same byte of memory, of which neither need come before the other. That the one
/// comes first which should is for comparison of bits to see.
std::string check_stream(const StepStream &stream, const graph::Graph &graph, const NpuConfig &npu,
                         std::uint64_t memory_bytes);

/// "op 'fc1', Gemm, command 17 (its 3rd)".
std::string describe_place(const StepStream &stream, const graph::Graph &graph, std::size_t command);

} // namespace gradweave::runtime::train
