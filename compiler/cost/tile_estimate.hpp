// Estimate of a program tile by tile, to rank the plans that are worth simulating. A hundred times quicker than the
// timing model, and wrong by a few percent.
#pragma once

#include "compiler/ir/program.hpp"
#include "sw_models/config/machine.hpp"

namespace gradweave::compiler {

/// Plays the program on three in-order engines that share the DRAM bandwidth. Gives `limit` or more as soon as it is
/// clear that the estimate is not less.
std::uint64_t estimate_cycles(const Program &program, const Machine &npu, std::uint64_t limit);

} // namespace gradweave::compiler
