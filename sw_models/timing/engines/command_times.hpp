// When a command passed the stations of its life; the common form of what the RTL reports and the timing model
// computes.
#pragma once

#include <cstdint>

namespace gradweave::timing {

/// In place of a cycle: it did not happen.
inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

/// Cycles of the run. Cycle 0 is the first one in which the NPU runs: it checks the stream's place. CYCLES counts from
/// there, so a stream whose last command is done in cycle n has CYCLES = n + 1.
struct CommandTimes {
  std::uint64_t issue = kNever; ///< dispatch puts the command into its engine's queue
  std::uint64_t start = kNever; ///< its waits are taken and the engine accepts it
  std::uint64_t done = kNever;  ///< it completes: posts are made, counted as retired
  bool operator==(const CommandTimes &o) const { return issue == o.issue && start == o.start && done == o.done; }
  bool operator!=(const CommandTimes &o) const { return !(*this == o); }
};

/// A MARK that completed, as the mark log has it.
struct Mark {
  std::uint16_t tag = 0;
  std::uint64_t cycle = 0; ///< of the run; CommandTimes::done of the MARK
  bool operator==(const Mark &o) const { return tag == o.tag && cycle == o.cycle; }
};

} // namespace gradweave::timing
