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

/// A write of the host to a register while the NPU runs. Writes that the RTL answers with SLVERR have no effect.
struct HostWrite {
  enum class Kind {
    kTail,    ///< CMD_COUNT := tail
    kClose,   ///< CTRL bit 3: no more commands follow
    kTakeMark ///< CTRL bit 4: the oldest mark leaves the log
  };
  Kind kind = Kind::kTail;
  std::uint64_t cycle = 0; ///< of the run: gw_csr takes the write in it, so its effects show from the next one on
  std::uint32_t tail = 0;
};

/// The ring of commands, and what the host does with it.
struct RingOptions {
  std::uint32_t places = 0;     ///< RING_SIZE; 0: no ring, the whole stream is there from the start
  std::uint32_t first_tail = 0; ///< CMD_COUNT at the start
  std::vector<HostWrite> host;  ///< by ascending cycles
};

struct RunOptions {
  std::uint64_t stream_addr = 0;         ///< CMD_ADDR; fetch cuts its bursts at multiples of 512 bytes
  std::uint64_t dram_base = 0;           ///< DRAM_BASE
  std::uint64_t dram_size = 0;           ///< DRAM_SIZE; 0: the configuration's size_bytes
  std::optional<std::uint32_t> watchdog; ///< WATCHDOG; empty: usual_watchdog()
  RingOptions ring;                      ///< command i of the stream is the ring's i-th since the start
  // For callers that need no more than to know that a run is too long, which it is given up for:
  std::uint64_t most_idle_cycles = kNever;     ///< of the DRAM
  const std::uint64_t *latest_start = nullptr; ///< cycle of each command of the stream; null: no limit
};

struct RunResult {
  isa::ErrorCode error = isa::ErrorCode::NONE; ///< as ERR_CODE
  std::uint32_t error_index = 0;               ///< as ERR_INDEX
  std::uint32_t error_word = 0;                ///< as ERR_WORD
  /// Of a run that an error ended: cycles behind its last in which bursts on their way end, before the interrupt.
  std::uint64_t stop_cycles = 0;
  bool given_up = false;               ///< for the limits of the options; what follows is of the part before
  std::uint32_t cores = 1;             ///< whose counters are in the list
  std::vector<std::uint64_t> counters; ///< in the list of isa/counters.hpp
  std::vector<CommandTimes> commands;  ///< one per command of the stream
  std::vector<Mark> marks;             ///< MARKs that completed, in that order
  std::vector<std::size_t> refused;    ///< writes of RingOptions::host, by place, that were answered with SLVERR
  AccessCounts accesses;               ///< counted by the engines as they work; zero unless ok()

  bool ok() const { return error == isa::ErrorCode::NONE; }
  /// Of a counter that each core has: that of the core.
  std::uint64_t counter(isa::Counter c, std::uint32_t core = 0) const {
    return counters[isa::counter_index(c, core, cores)];
  }
  std::uint64_t cycles() const { return counter(isa::Counter::CYCLES); }
};

} // namespace gradweave::timing
