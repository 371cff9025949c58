// Cycle-exact timing model of the NPU: executes the binary command stream without data.
//
// It gives for every command the cycles in which the RTL issues, starts and completes it, and the final value of every
// counter. It advances from event to event; cycles in which nothing changes cost nothing. docs/timing-model.md says
// how its latencies follow from the RTL, what validates it, and its limits.
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/timing/run.hpp"
#include "sw_models/timing/silence.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::timing {

/// Runs `count` commands on an idle NPU whose memory is idle too, and has no faults and no back-pressure beyond its
/// DRAM timing. With a ring, `count` commands are there in the end; the host writes as the options say. Throws
/// std::invalid_argument, naming the field, for writes that are no order or more than the stream. A stream the hardware
/// stops with an error gives that error and the events until then. Pure: no state is kept between calls.
RunResult run(const Machine &npu, const isa::Command *stream, std::size_t count, const RunOptions &options = {});

inline RunResult run(const Machine &npu, const std::vector<isa::Command> &stream, const RunOptions &options = {}) {
  return run(npu, stream.data(), stream.size(), options);
}

} // namespace gradweave::timing
