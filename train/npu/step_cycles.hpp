// Where the cycles of a step's stream went.
#pragma once

#include "sw_models/timing/engines/command_times.hpp"
#include "train/npu/step_stream.hpp"
#include "train/step_executor.hpp"

#include <vector>

namespace gradweave::runtime::train {

/// `times`: of each command of the stream, all done.
StepCycles count_cycles(const StepStream &stream, const std::vector<timing::CommandTimes> &times, std::uint64_t cycles);

} // namespace gradweave::runtime::train
