#include "trace/timeline/trace_events.hpp"

#include <nlohmann/json.hpp>

#include <iterator>

namespace gradweave::runtime::timeline {
namespace {

constexpr std::size_t kWriteAt = std::size_t{1} << 20U; ///< bytes gathered before they are written

} // namespace

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

TraceEvents::TraceEvents(OutputFile &output, Compression compression, std::string_view other_data)
    : file_(output, compression) {
  // Viewers stop at keys they do not know, but know this one; it comes first so that a reader of the file sees it.
  fmt::format_to(std::back_inserter(text_), "{{\"otherData\":{{{}}},\n\"traceEvents\":[", other_data);
}

void TraceEvents::begin_event() {
  text_.append(std::string_view(first_ ? "\n" : ",\n"));
  first_ = false;
}

void TraceEvents::write_when_large() {
  if (text_.size() < kWriteAt) return;
  file_.append({text_.data(), text_.size()});
  text_.clear();
}

void TraceEvents::name_process(std::uint32_t pid, std::string_view name) {
  begin_event();
  fmt::format_to(std::back_inserter(text_),
                 R"({{"ph":"M","ts":0,"pid":{0},"name":"process_name","args":{{"name":{1}}}}},
{{"ph":"M","ts":0,"pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
                 pid, json_string(name));
}

void TraceEvents::name_row(std::uint32_t pid, std::uint32_t tid, std::string_view name) {
  begin_event();
  fmt::format_to(std::back_inserter(text_),
                 R"({{"ph":"M","ts":0,"pid":{0},"tid":{1},"name":"thread_name","args":{{"name":{2}}}}},
{{"ph":"M","ts":0,"pid":{0},"tid":{1},"name":"thread_sort_index","args":{{"sort_index":{1}}}}})",
                 pid, tid, json_string(name));
}

void TraceEvents::slice(std::uint32_t pid, std::uint32_t tid, std::uint64_t begin, std::uint64_t end,
                        std::string_view name, std::string_view category, std::string_view args) {
  begin_event();
  fmt::format_to(std::back_inserter(text_),
                 R"({{"ph":"X","ts":{},"dur":{},"pid":{},"tid":{},"cat":{},"name":{},"args":{{{}}}}})", begin,
                 end - begin, pid, tid, json_string(category), json_string(name), args);
  write_when_large();
}

void TraceEvents::counter(std::uint32_t pid, std::string_view name, std::string_view unit, std::uint64_t time,
                          std::int64_t value) {
  begin_event();
  fmt::format_to(std::back_inserter(text_), R"({{"ph":"C","ts":{},"pid":{},"name":{},"args":{{{}:{}}}}})", time, pid,
                 json_string(name), json_string(unit), value);
  write_when_large();
}

void TraceEvents::arrow(std::uint32_t pid, std::uint32_t from_tid, std::uint64_t from, std::uint32_t to_tid,
                        std::uint64_t to) {
  begin_event();
  fmt::format_to(std::back_inserter(text_),
                 R"({{"ph":"s","ts":{0},"pid":{1},"tid":{2},"cat":"release","name":"release","id":{5}}},
{{"ph":"f","bp":"e","ts":{3},"pid":{1},"tid":{4},"cat":"release","name":"release","id":{5}}})",
                 from, pid, from_tid, to, to_tid, arrows_++);
  write_when_large();
}

void TraceEvents::commit() {
  text_.append(std::string_view("\n]}\n"));
  file_.append({text_.data(), text_.size()});
  text_.clear();
  file_.commit();
}

} // namespace gradweave::runtime::timeline
