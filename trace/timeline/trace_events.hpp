// The syntax of the trace-event format: a JSON object with an array of events, written as they come.
#pragma once

#include "trace/timeline/trace_file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace gradweave::runtime::timeline {

/// `text` as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

/// Times are in the format's microseconds. `args` are the inside of a JSON object, as in "\"index\":3". Names are plain
/// text. Within a row and within a counter, events have to be written in order of time.
class TraceEvents {
public:
  /// `other_data`: the inside of a JSON object that describes the whole file.
  TraceEvents(OutputFile &output, Compression compression, std::string_view other_data);

  void name_process(std::uint32_t pid, std::string_view name);
  /// Rows are shown in order of their `tid`, which is unique among all processes.
  void name_row(std::uint32_t pid, std::uint32_t tid, std::string_view name);
  /// A bar in a row. Bars of a row must not overlap.
  void slice(std::uint32_t pid, std::uint32_t tid, std::uint64_t begin, std::uint64_t end, std::string_view name,
             std::string_view category, std::string_view args);
  /// From now on the counter `name` shows `value`; `unit` says of what.
  void counter(std::uint32_t pid, std::string_view name, std::string_view unit, std::uint64_t time, std::int64_t value);
  /// An arrow from the bar that row `from_tid` shows at `from` to the one that row `to_tid` shows at `to`.
  void arrow(std::uint32_t pid, std::uint32_t from_tid, std::uint64_t from, std::uint32_t to_tid, std::uint64_t to);
  /// Makes the file appear, complete. Throws OutputError.
  void commit();

private:
  void begin_event();
  void write_when_large();

  TraceFile file_;
  fmt::memory_buffer text_; ///< not yet written
  bool first_ = true;
  std::uint64_t arrows_ = 0;
};

} // namespace gradweave::runtime::timeline
