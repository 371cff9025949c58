// Compares the RTL's account of a run with the timing model's: every event of every command, every counter.
#pragma once

#include "device/device.hpp"
#include "sw_models/timing/engines/command_times.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gradweave::runtime {

/// One side's account of a stream.
struct TimedRun {
  RunStatus status;
  Counters counters;
  std::vector<timing::CommandTimes> times; ///< an entry for each command
  std::vector<timing::Mark> marks;         ///< that a host took from a ring's run
  std::vector<std::uint64_t> host;         ///< cycles in which that host was ready for what it did next
};

/// In the order of cause and effect within a cycle: a completion lets a command start, a start makes room in the queue.
enum class Event { kDone, kStart, kIssue };
inline constexpr Event kEvents[] = {Event::kDone, Event::kStart, Event::kIssue};
std::string_view to_string(Event event); ///< "done", "start", "issue"
std::uint64_t time_of(const timing::CommandTimes &times, Event event);

struct EventDifference {
  std::size_t command = 0; ///< index in the stream
  Event event = Event::kDone;
  std::uint64_t rtl = timing::kNever, model = timing::kNever; ///< cycles
  /// When the sides part: the earlier of both.
  std::uint64_t cycle() const { return rtl < model ? rtl : model; }
};

struct TimingComparison {
  std::uint64_t commands = 0, commands_differ = 0; ///< a command differs if any of its events does
  std::uint64_t counters = 0, counters_differ = 0;
  std::uint64_t marks = 0, marks_differ = 0;
  bool host_differs = false; ///< it saw something else, or at another time
  bool end_differs = false;  ///< error code, index or word
  /// The first in time; all that happens before it is the same on both sides.
  std::optional<EventDifference> first;

  bool equal() const {
    return commands_differ == 0 && counters_differ == 0 && marks_differ == 0 && !host_differs && !end_differs;
  }
};

/// A side that has fewer commands than the other has them never happen.
TimingComparison compare_runs(const TimedRun &rtl, const TimedRun &model);

} // namespace gradweave::runtime
