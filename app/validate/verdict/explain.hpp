// Says, for people, how two accounts of a run differ and where the cause is to be sought.
#pragma once

#include "app/validate/verdict/compare.hpp"
#include "isa/command.hpp"
#include "trace/command_label.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace gradweave::runtime {

/// What is known of a stream's commands besides their times.
struct DescribedStream {
  std::function<CommandLabel(std::size_t command)> label;
  std::function<isa::Sync(std::size_t command)> sync; ///< empty: waits and posts are not known
};

/// Several lines, without a final line break; empty if the runs are equal. They name the first difference in time with
/// both cycles; what was queued and in flight in each engine when it came up, what dispatch was at, and the semaphores
/// that the command waits for, all reconstructed from the times; the events before and after; and the sources that
/// decide about such an event. Then how the counters and the end of the run differ.
std::string explain(const TimingComparison &comparison, const TimedRun &rtl, const TimedRun &model,
                    const DescribedStream &stream);

} // namespace gradweave::runtime
