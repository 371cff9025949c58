#include "tests/trace/timeline_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace gradweave::test {
namespace {

using Json = nlohmann::json;

class Reader {
public:
  Trace read(const std::string &text) {
    const Json file = Json::parse(text);
    trace_.other_data = file.at("otherData");
    // Names may come behind what they name.
    for (const Json &event : file.at("traceEvents"))
      if (event.at("ph") == "M") name(event);
    for (const Json &event : file.at("traceEvents"))
      place(event);
    for (const auto &[id, from] : arrows_)
      problem("arrow {} does not end", id);
    for (const auto &[name, process] : trace_.processes)
      for (const TraceArrow &arrow : process.arrows)
        check_arrow(process, arrow);
    return std::move(trace_);
  }

private:
  template <typename... T> void problem(const char *format, const T &...values) {
    trace_.problems.push_back(fmt::format(fmt::runtime(format), values...));
  }

  std::uint64_t whole(const Json &event, const char *field) {
    const Json &value = event.at(field);
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    problem("{} of {} is no whole number", field, event.dump());
    return 0;
  }

  void name(const Json &event) {
    const std::uint64_t pid = whole(event, "pid");
    const std::string what = event.at("name");
    if (what == "process_name") {
      if (!processes_.emplace(pid, event.at("args").at("name")).second) problem("process {} has two names", pid);
    } else if (what == "thread_name") {
      const Row row{pid, event.at("args").at("name")};
      if (!rows_.emplace(whole(event, "tid"), row).second) problem("row {} has two names", whole(event, "tid"));
      if (!row_names_.emplace(pid, row.name).second) problem("two rows are called {}", row.name);
    } else if (what == "process_sort_index" || what == "thread_sort_index") {
      whole(event.at("args"), "sort_index");
    } else {
      problem("unknown metadata {}", what);
    }
  }

  TraceProcess &process_of(const Json &event) {
    const auto at = processes_.find(whole(event, "pid"));
    if (at == processes_.end()) problem("process {} has no name", event.at("pid").dump());
    return trace_.processes[at == processes_.end() ? "?" : at->second];
  }

  std::string row_of(const Json &event) {
    const auto at = rows_.find(whole(event, "tid"));
    if (at != rows_.end() && at->second.pid == whole(event, "pid")) return at->second.name;
    problem("row {} of process {} has no name", event.at("tid").dump(), event.at("pid").dump());
    return "?";
  }

  void place(const Json &event) {
    const std::string phase = event.at("ph");
    if (phase == "M") return;
    const std::uint64_t time = whole(event, "ts");
    if (phase == "X")
      slice(event, time);
    else if (phase == "C")
      counter(event, time);
    else if (phase == "s" || phase == "f")
      arrow(event, phase == "s", time);
    else
      problem("unknown phase {}", phase);
  }

  void slice(const Json &event, std::uint64_t begin) {
    std::vector<TraceSlice> &row = process_of(event).rows[row_of(event)];
    const std::uint64_t end = begin + whole(event, "dur");
    if (end == begin) problem("{} at {} takes no time", event.at("name").dump(), begin);
    if (!row.empty() && row.back().end > begin)
      problem("{} at {} overlaps {}, which ends at {}", event.at("name").dump(), begin, row.back().name,
              row.back().end);
    row.push_back({begin, end, event.at("name"), event.at("cat"), event.at("args")});
  }

  void counter(const Json &event, std::uint64_t time) {
    const Json &args = event.at("args");
    if (args.size() != 1 || !args.begin()->is_number_integer()) {
      problem("{} is not one whole number", event.dump());
      return;
    }
    auto &samples = process_of(event).counters[event.at("name")];
    const std::int64_t value = args.begin()->get<std::int64_t>();
    if (value < 0) problem("{} is {} at {}", event.at("name").dump(), value, time);
    if (!samples.empty() && samples.back().first > time) problem("{} goes back to {}", event.at("name").dump(), time);
    samples.emplace_back(time, value);
  }

  void arrow(const Json &event, bool begins, std::uint64_t time) {
    const std::uint64_t id = whole(event, "id");
    if (begins) {
      if (!arrows_.emplace(id, TraceArrow{row_of(event), {}, time, 0}).second) problem("arrow {} begins twice", id);
      return;
    }
    if (event.at("bp") != "e") problem("arrow {} does not point to the bar around its end", id);
    const auto at = arrows_.find(id);
    if (at == arrows_.end()) {
      problem("arrow {} does not begin", id);
      return;
    }
    TraceArrow whole_arrow = at->second;
    arrows_.erase(at);
    whole_arrow.to_row = row_of(event);
    whole_arrow.to = time;
    if (time < whole_arrow.from) problem("arrow {} points back in time", id);
    process_of(event).arrows.push_back(whole_arrow);
  }

  static bool has_bar(const TraceProcess &process, const std::string &row, std::uint64_t time) {
    const auto at = process.rows.find(row);
    if (at == process.rows.end()) return false;
    const auto after = std::upper_bound(at->second.begin(), at->second.end(), time,
                                        [](std::uint64_t t, const TraceSlice &s) { return t < s.begin; });
    return after != at->second.begin() && std::prev(after)->end > time;
  }

  void check_arrow(const TraceProcess &process, const TraceArrow &arrow) {
    if (!has_bar(process, arrow.from_row, arrow.from))
      problem("an arrow begins in row {} at {}, where there is no bar", arrow.from_row, arrow.from);
    if (!has_bar(process, arrow.to_row, arrow.to))
      problem("an arrow ends in row {} at {}, where there is no bar", arrow.to_row, arrow.to);
  }

  struct Row {
    std::uint64_t pid = 0;
    std::string name;
  };
  Trace trace_;
  std::map<std::uint64_t, std::string> processes_;
  std::map<std::uint64_t, Row> rows_;
  std::set<std::pair<std::uint64_t, std::string>> row_names_;
  std::map<std::uint64_t, TraceArrow> arrows_; ///< begun and not ended
};

} // namespace

std::int64_t TraceProcess::value(const std::string &counter, std::uint64_t time) const {
  std::int64_t last = 0;
  for (const auto &[at, value] : counters.at(counter))
    if (at <= time) last = value;
  return last;
}

Trace read_timeline(const std::string &text) { return Reader().read(text); }

} // namespace gradweave::test
