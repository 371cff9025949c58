// The part of compile() after the schedulers, for callers that choose the plans themselves.
#pragma once

#include "compiler/ir/compiled.hpp"
#include "compiler/ir/program.hpp"
#include "compiler/request/error.hpp"
#include "sw_models/config/machine.hpp"

namespace gradweave::compiler {

/// Places the tiles of plans in the scratchpad, and times what follows: all phases of all layers in the order in which
/// they are to run. Products are made of plans that have none. `cycles`: by the timing model, if they are known. Throws
/// CompileError if they do not fit the scratchpad or the device's memory.
TimedPlan time_plans(std::vector<PhasePlan> plans, const std::vector<Layer> &layers, const Layout &layout,
                     const Machine &npu, std::uint64_t cycles = 0);

/// Checks the plan and its program, encodes them and verifies the stream. Several layers share the scratchpad: what one
/// leaves there serves the next, and loads run ahead over the borders of layers. Without `stream`, stream and info stay
/// empty and nothing is verified. The plan is given up as soon as there are commands, before they are verified. The
/// program has room in the memory (check_room()). Throws CompilerDefect if a check fails.
Compiled compile_plan(const std::vector<Layer> &layers, const Jobs &jobs, const Layout &layout, TimedPlan plan,
                      const Machine &npu, bool stream = true);

/// Both, of all that is in the plans, of which some may be of layers of the vector unit (share_step()).
Compiled compile_plans(const std::vector<Layer> &layers, Pass pass, const std::vector<PhasePlan> &plans,
                       const Machine &npu);

} // namespace gradweave::compiler
