// Cycle-exact timing model of the NPU: executes the binary command stream without data.
//
// It gives for every command the cycles in which the RTL issues, starts and completes it, and the final value of every
// counter. It advances from event to event; cycles in which nothing changes cost nothing. docs/timing-model.md says
// how its latencies follow from the RTL, what validates it, and its limits.
#pragma once

#include "isa/command.hpp"
#include "isa/counters.hpp"
#include "sw_models/npu_config.hpp"
#include "sw_models/timing/command_times.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::timing {

struct RunOptions {
  std::uint64_t stream_addr = 0;         ///< CMD_ADDR; fetch cuts its bursts at multiples of 512 bytes
  std::uint64_t dram_base = 0;           ///< DRAM_BASE
  std::uint64_t dram_size = 0;           ///< DRAM_SIZE; 0: the configuration's size_bytes
  std::optional<std::uint32_t> watchdog; ///< WATCHDOG; empty: usual_watchdog()
};

struct RunResult {
  isa::ErrorCode error = isa::ErrorCode::NONE; ///< as ERR_CODE
  std::uint32_t error_index = 0;               ///< as ERR_INDEX
  std::vector<std::uint64_t> counters;         ///< in the list of isa/counters.hpp
  std::vector<CommandTimes> commands;          ///< one per command of the stream

  bool ok() const { return error == isa::ErrorCode::NONE; }
  /// Of a counter that each core has: that of the core.
  std::uint64_t counter(isa::Counter c, std::uint32_t core = 0) const { return counters[isa::counter_index(c, core)]; }
  std::uint64_t cycles() const { return counter(isa::Counter::CYCLES); }
};

/// Cycles that the NPU is never silent for, in the sense of the watchdog, while legal work goes on and nothing but the
/// DRAM's timing holds up the bus: two of the longest bursts, a turn and the latency, or initial values on their way
/// into the array. The memory's batch has no part in it: bursts that overtake in the other direction are progress.
std::uint64_t longest_silence(const NpuConfig &npu);

/// The watchdog of a run that asks for none: as after reset, or more cycles than longest_silence() where the memory is
/// so slow that legal work would trip that one.
std::uint32_t usual_watchdog(const NpuConfig &npu);

/// Runs `count` commands on an idle NPU whose memory is idle too, and has no faults and no back-pressure beyond its
/// DRAM timing. A stream the hardware stops with an error gives that error and the events until then. Pure: no state
/// is kept between calls.
RunResult run(const NpuConfig &npu, const isa::Command *stream, std::size_t count, const RunOptions &options = {});

inline RunResult run(const NpuConfig &npu, const std::vector<isa::Command> &stream, const RunOptions &options = {}) {
  return run(npu, stream.data(), stream.size(), options);
}

} // namespace gradweave::timing
