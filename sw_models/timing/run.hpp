// What a run of the timing model is asked for, and what it gives.
#pragma once

#include "isa/command.hpp"
#include "isa/counters.hpp"
#include "sw_models/energy/access_counts.hpp"
#include "sw_models/timing/engines/command_times.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::timing {

struct RunOptions {
  std::uint64_t stream_addr = 0;         ///< CMD_ADDR; fetch cuts its bursts at multiples of 512 bytes
  std::uint64_t dram_base = 0;           ///< DRAM_BASE
  std::uint64_t dram_size = 0;           ///< DRAM_SIZE; 0: the configuration's size_bytes
  std::optional<std::uint32_t> watchdog; ///< WATCHDOG; empty: usual_watchdog()
  // For callers that need no more than to know that a run is too long, which it is given up for:
  std::uint64_t most_idle_cycles = kNever;     ///< of the DRAM
  const std::uint64_t *latest_start = nullptr; ///< cycle of each command of the stream; null: no limit
};

struct RunResult {
  isa::ErrorCode error = isa::ErrorCode::NONE; ///< as ERR_CODE
  std::uint32_t error_index = 0;               ///< as ERR_INDEX
  bool given_up = false;                       ///< for the limits of the options; what follows is of the part before
  std::vector<std::uint64_t> counters;         ///< in the list of isa/counters.hpp
  std::vector<CommandTimes> commands;          ///< one per command of the stream
  AccessCounts accesses;                       ///< counted by the engines as they work; zero unless ok()

  bool ok() const { return error == isa::ErrorCode::NONE; }
  /// Of a counter that each core has: that of the core.
  std::uint64_t counter(isa::Counter c, std::uint32_t core = 0) const { return counters[isa::counter_index(c, core)]; }
  std::uint64_t cycles() const { return counter(isa::Counter::CYCLES); }
};

} // namespace gradweave::timing
