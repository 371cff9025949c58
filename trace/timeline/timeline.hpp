// Timeline of runs in the Chrome/Perfetto trace-event format: commands, queues, scratchpad and semaphores over time, in
// one form for the RTL and the timing model. docs/timeline.md says what each row means.
#pragma once

#include "trace/timeline/run.hpp"
#include "trace/timeline/trace_events.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace gradweave::runtime::timeline {

/// What executed a run. Each is a process of its own in the viewer.
enum class Source { kRtl = 1, kModel = 2 };
std::string_view to_string(Source source); ///< "RTL", "timing model"

class Timeline {
public:
  /// `output` must outlive the timeline and take nothing else. `title`: what runs, for people.
  Timeline(OutputFile &output, Compression compression, const NpuConfig &npu, const std::string &title);

  /// Draws a run from cycle `offset` of the time axis on: runs of a source follow one another. The run must be on the
  /// timeline's NPU. Throws std::invalid_argument if it begins before the source's last run has ended, TimelineError
  /// if its times are impossible, OutputError.
  void add(Source source, const Run &run, std::uint64_t offset);

  /// Makes the file appear. Without it there is none. Throws OutputError.
  void commit();

private:
  class Drawing;
  struct Process {
    std::uint64_t end = 0; ///< of its last run
    std::set<std::uint32_t> rows;
    /// Last value by name and unit.
    std::map<std::pair<std::string, std::string>, std::int64_t> counters;
  };

  Process &process(Source source);

  std::string title_;
  TraceEvents events_;
  std::map<Source, Process> processes_;
};

} // namespace gradweave::runtime::timeline
