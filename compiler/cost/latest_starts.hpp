// When the actions of a program may start at the latest, if its run is to be short enough: what must follow each of
// them, in the order that semaphores, engines and the DRAM's one channel impose.
#pragma once

#include "compiler/emit/hazards.hpp"
#include "compiler/ir/program.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Cycles from the start of each action to the end of the run, at least.
std::vector<std::uint64_t> cycles_to_come(const Program &program, const Orderings &orderings, const Machine &npu);

/// The last cycle in which each command of the program's stream may start, if the run is to take less than `limit`, by
/// the cycles that are to come from each action on; `limit` where nothing is known.
std::vector<std::uint64_t> latest_starts(const Program &program, const std::vector<std::uint64_t> &to_come,
                                         const std::vector<isa::Command> &commands, std::uint64_t limit);

} // namespace gradweave::compiler
