// A point of a sweep that is a whole training step.
#pragma once

#include "app/request/work_arguments.hpp"
#include "app/sweep/run.hpp"

namespace gradweave::cli {

/// A step of the network on the timing model, as `simulate --step` has it. Throws ConfigError, std::invalid_argument,
/// or what load_forward() does, if there is no such network, machine or step.
sweep::Work step_work(const WorkArguments &arguments, const std::string &name);

/// What the NPU is and what follows from cycles and accesses: of `result`, which has its cycles and multiply-adds.
void add_machine(const Machine &npu, const AccessCounts &accesses, sweep::Result &result);

} // namespace gradweave::cli
