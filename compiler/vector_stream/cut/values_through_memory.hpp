// Chains of too many tiles as chains of fewer: what follows from operands alone goes through memory.
#pragma once

#include "compiler/vector/job.hpp"
#include "sw_models/config/machine.hpp"

namespace gradweave::compiler {

/// The jobs; but one of a single result whose whole chains do not fit a place, and of which a part would have more
/// tiles than there are, its variables among them, reads what its loops compute of two operands or more, and of nothing
/// else, from a value between jobs, which a job of elements before it gives: the same bits. A job for which that is
/// not enough stays as it is. Whoever gives values addresses has to do so for those of the result.
OpJobs values_through_memory(OpJobs jobs, const NpuConfig &npu);

} // namespace gradweave::compiler
