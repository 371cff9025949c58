#include "app/validate/verdict/compare.hpp"

#include <algorithm>
#include <tuple>

namespace gradweave::runtime {
namespace {

timing::CommandTimes times_at(const TimedRun &run, std::size_t command) {
  return command < run.times.size() ? run.times[command] : timing::CommandTimes{};
}

bool earlier(const EventDifference &a, const EventDifference &b) {
  return std::make_tuple(a.cycle(), a.event, a.command) < std::make_tuple(b.cycle(), b.event, b.command);
}

} // namespace

std::string_view to_string(Event event) {
  switch (event) {
  case Event::kDone:
    return "done";
  case Event::kStart:
    return "start";
  case Event::kIssue:
    return "issue";
  }
  return "?";
}

std::uint64_t time_of(const timing::CommandTimes &times, Event event) {
  switch (event) {
  case Event::kDone:
    return times.done;
  case Event::kStart:
    return times.start;
  case Event::kIssue:
    break;
  }
  return times.issue;
}

TimingComparison compare_runs(const TimedRun &rtl, const TimedRun &model) {
  TimingComparison result;
  result.commands = std::max(rtl.times.size(), model.times.size());
  for (std::size_t i = 0; i < result.commands; ++i) {
    const timing::CommandTimes a = times_at(rtl, i);
    const timing::CommandTimes b = times_at(model, i);
    if (a == b) continue;
    ++result.commands_differ;
    for (const Event event : kEvents) {
      const EventDifference difference{i, event, time_of(a, event), time_of(b, event)};
      if (difference.rtl == difference.model) continue;
      if (!result.first || earlier(difference, *result.first)) result.first = difference;
    }
  }
  result.counters = std::max(rtl.counters.values.size(), model.counters.values.size());
  for (std::size_t i = 0; i < result.counters; ++i)
    if (i >= rtl.counters.values.size() || i >= model.counters.values.size() ||
        rtl.counters.values[i] != model.counters.values[i])
      ++result.counters_differ;
  result.marks = std::max(rtl.marks.size(), model.marks.size());
  for (std::size_t i = 0; i < result.marks; ++i)
    if (i >= rtl.marks.size() || i >= model.marks.size() || !(rtl.marks[i] == model.marks[i])) ++result.marks_differ;
  result.host_differs = rtl.host != model.host;
  result.end_differs = rtl.status.error != model.status.error ||
                       (!rtl.status.ok() && (rtl.status.error_index != model.status.error_index ||
                                             rtl.status.error_word != model.status.error_word));
  return result;
}

} // namespace gradweave::runtime
