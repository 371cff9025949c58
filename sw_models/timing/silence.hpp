// How long an NPU at work can be silent, and the watchdog that leaves it time.
#pragma once

#include "sw_models/config/machine.hpp"

#include <cstdint>

namespace gradweave::timing {

/// Cycles that the NPU is never silent for, in the sense of the watchdog, while legal work goes on and nothing but the
/// DRAM's timing holds up the bus: two of the longest bursts, a turn and the latency, or initial values on their way
/// into the array. The memory's batch has no part in it: bursts that overtake in the other direction are progress.
std::uint64_t longest_silence(const Machine &npu);

/// The watchdog of a run that asks for none: as after reset, or more cycles than longest_silence() where the memory is
/// so slow that legal work would trip that one.
std::uint32_t usual_watchdog(const Machine &npu);

} // namespace gradweave::timing
