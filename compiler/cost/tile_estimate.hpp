// Estimate of a program tile by tile, to rank the plans that are worth simulating. A hundred times quicker than the
// timing model, and wrong by a few percent.
#pragma once

#include "compiler/emit/hazards.hpp"
#include "sw_models/config/machine.hpp"

#include <vector>

namespace gradweave::compiler {

/// Plays the program on three in-order engines that share the DRAM bandwidth.
std::uint64_t estimate_cycles(const Program &program, const std::vector<Ordering> &ordering, const Machine &npu);

} // namespace gradweave::compiler
