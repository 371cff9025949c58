// What a timeline is drawn from: one command stream and when each of its commands passed its stations.
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"
#include "sw_models/timing/engines/command_times.hpp"
#include "trace/command_label.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradweave::runtime::timeline {

/// A run of one stream on an NPU in reset state. The referenced objects must outlive it.
struct Run {
  std::string name; ///< of the layer or the stream
  const NpuConfig &npu;
  const std::vector<isa::Command> &stream;
  const std::vector<timing::CommandTimes> &times; ///< one for each command
  std::uint64_t cycles = 0;                       ///< of the run: its CYCLES counter
  std::function<CommandLabel(std::size_t)> label; ///< of the command with this index
};

/// The times cannot be those of the stream on this NPU. what() names the command, the values and the remedy.
class TimelineError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// CYCLES of a run of which only the commands' times are known: the cycle after the last event.
std::uint64_t cycles_of(const std::vector<timing::CommandTimes> &times);

/// Cycle after the last one in which a command was at work: done + 1, or the run's end if it never completed.
inline std::uint64_t end_of(const timing::CommandTimes &times, std::uint64_t cycles) {
  return times.done == timing::kNever ? cycles : times.done + 1;
}

/// The stream's commands decoded, after a check of the run: a time for each command; no station before the one it
/// follows, none after the run's end; each engine issues, starts and completes in stream order; whatever was issued is
/// legal on this NPU. Commands that were never issued decode to nothing. Throws TimelineError.
std::vector<std::optional<isa::Decoded>> decode_run(const Run &run);

} // namespace gradweave::runtime::timeline
