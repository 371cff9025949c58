// Chains of several results as a chain for each, where the scratchpad is small.
#pragma once

#include "compiler/vector/job.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// The jobs; but one whose whole chains do not fit a place, and of which a part would have more tiles than there are,
/// its variables among them, becomes a job for each of its results, of what that needs (result_slice()): the same bits.
/// A result that lies in the place of an operand comes last; with two such a job stays as it is. `addresses`: of
/// each of OpJobs::values.
OpJobs split_chains(const OpJobs &jobs, const std::vector<std::uint64_t> &addresses, const NpuConfig &npu);

} // namespace gradweave::compiler
