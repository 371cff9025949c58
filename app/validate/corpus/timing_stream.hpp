// Random command streams for timing: legal, but with no regard for data.
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::corpus {

struct TimingStreamOptions {
  std::uint64_t seed = 1;
  std::uint32_t commands = 40;   ///< at least; the last episode may add some
  std::uint64_t dram_bytes = 0;  ///< the commands move data within [0, dram_bytes); at least 4096
  double share_of_errors = 0.2;  ///< streams that the hardware stops with an error
  double share_of_overflows = 0; ///< streams of 21,846 commands and more, one semaphore's overflow at the end
};

struct TimingStream {
  std::vector<isa::Command> commands;
  bool broken = false; ///< an error or an overflow was drawn for it
};

/// A stream for this NPU; the same for the same seed and options everywhere.
///
/// It is a chain of episodes, each of which crowds one part of the hardware: bursts of tiny commands (dispatch, queues,
/// completion), several commands that become ready in one cycle (the arbiter of the semaphores), stores against loads
/// (the memory's batches and turnarounds), rows of an element and rows across pages (bursts in flight), GEMMs with
/// their operands in one macro-bank, blocks shorter than the shadow chain, gaps in which the array flushes.
///
/// Engines overwrite what others read; the times do not depend on data. It cannot deadlock: only one engine waits for a
/// semaphore, and each wait is satisfied by posts of earlier commands. A stream with an error has an illegal command,
/// or a wait that is never satisfied, so that the watchdog ends it.
TimingStream make_timing_stream(const Machine &config, const TimingStreamOptions &options);

} // namespace gradweave::corpus
