#include "app/validate/verdict/explain.hpp"

#include "app/validate/verdict/where_to_look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace gradweave::runtime {
namespace {

constexpr std::size_t kListed = 4;      // commands of a queue
constexpr std::size_t kEventsShown = 6; // before and after
constexpr std::size_t kCountersShown = 30;

std::string cycle_text(std::uint64_t cycle) { return cycle == timing::kNever ? "never" : std::to_string(cycle); }

/// Both accounts, looked at from the first event in which they differ.
class Explanation {
public:
  Explanation(const EventDifference &first, const TimedRun &rtl, const TimedRun &model, const DescribedStream &stream)
      : first_(first), rtl_(rtl), model_(model), stream_(stream), label_(stream.label(first.command)) {}

  std::string text() {
    headline();
    state();
    if (stream_.sync) semaphores();
    events();
    line("where to look:");
    line("  {}", where_to_look(first_.event, label_.opcode, label_.engine).text("    "));
    return std::move(text_);
  }

private:
  template <typename... Args> void line(fmt::format_string<Args...> format, Args &&...args) {
    text_ += "  ";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  std::size_t commands() const { return std::max(rtl_.times.size(), model_.times.size()); }
  static timing::CommandTimes at(const TimedRun &run, std::size_t i) {
    return i < run.times.size() ? run.times[i] : timing::CommandTimes{};
  }
  /// Times before the first difference are the same on both sides, so one side stands for both.
  timing::CommandTimes common(std::size_t i) const { return at(rtl_, i); }
  bool before(std::uint64_t cycle) const { return cycle < first_.cycle(); }

  /// Without the layer: it is that of the headline.
  std::string name(std::size_t i) const {
    CommandLabel label = stream_.label(i);
    label.layer.clear();
    return fmt::format("#{} {}", i, label.text());
  }

  void headline() {
    line("first difference in time: {} of command #{} {}{}: RTL in cycle {}, model in cycle {}",
         to_string(first_.event), first_.command, label_.text(),
         label_.engine.empty() ? "" : fmt::format(" ({})", label_.engine), cycle_text(first_.rtl),
         cycle_text(first_.model));
    for (const auto &[side, run] : {std::pair("RTL", &rtl_), std::pair("model", &model_)}) {
      const timing::CommandTimes t = at(*run, first_.command);
      line("  {:<5}  issue {:>8}  start {:>8}  done {:>8}", side, cycle_text(t.issue), cycle_text(t.start),
           cycle_text(t.done));
    }
    line("Both agree on everything before cycle {}: the cause is here; later differences may be its consequences.",
         first_.cycle());
  }

  struct EngineState {
    std::vector<std::size_t> in_flight, queued;
  };

  std::string list(const std::vector<std::size_t> &indices, bool with_start) const {
    if (indices.empty()) return "none";
    std::string text;
    for (std::size_t i = 0; i < std::min(indices.size(), kListed); ++i) {
      text += fmt::format("{}{}", i == 0 ? "" : ", ", name(indices[i]));
      if (with_start) text += fmt::format(" (since {})", common(indices[i]).start);
    }
    if (indices.size() > kListed) text += fmt::format(", and {} more", indices.size() - kListed);
    return text;
  }

  void state() {
    std::map<std::string, EngineState> engines;
    std::size_t next = commands();
    for (std::size_t i = 0; i < commands(); ++i) {
      const timing::CommandTimes t = common(i);
      if (!before(t.issue)) {
        next = i;
        break; // dispatch is in order
      }
      EngineState &engine = engines[stream_.label(i).engine];
      if (!before(t.start))
        engine.queued.push_back(i);
      else if (!before(t.done))
        engine.in_flight.push_back(i);
    }
    line("state at the start of cycle {}:", first_.cycle());
    for (const auto &[engine, s] : engines) {
      line("  {:<9} in flight {}: {}", engine, s.in_flight.size(), list(s.in_flight, true));
      line("  {:<9} queued {}: {}", "", s.queued.size(), list(s.queued, false));
    }
    if (next < commands())
      line("  {:<9} next is {}; RTL issues it in cycle {}, the model in cycle {}", "dispatch", name(next),
           cycle_text(at(rtl_, next).issue), cycle_text(at(model_, next).issue));
    else
      line("  {:<9} has issued all {} commands", "dispatch", commands());
  }

  void semaphores() {
    if (before(common(first_.command).start)) return;
    for (const isa::Wait &wait : stream_.sync(first_.command).waits)
      if (wait.semaphore != isa::kNoSemaphore) semaphore(wait);
  }

  void semaphore(const isa::Wait &wait) {
    std::uint64_t posted = 0;
    std::uint64_t taken = 0;
    std::pair<std::uint64_t, std::size_t> last_post{0, commands()};
    for (std::size_t i = 0; i < commands(); ++i) {
      const timing::CommandTimes t = common(i);
      if (!before(t.start)) continue;
      const isa::Sync sync = stream_.sync(i);
      for (const isa::Wait &w : sync.waits)
        if (w.semaphore == wait.semaphore) taken += w.count;
      if (!before(t.done)) continue;
      const auto posts = std::count(sync.posts.begin(), sync.posts.end(), wait.semaphore);
      posted += static_cast<std::uint64_t>(posts);
      if (posts != 0 && t.done >= last_post.first) last_post = {t.done, i};
    }
    std::string last = "nobody posted it yet";
    if (posted != 0) last = fmt::format("last post in cycle {} by {}", last_post.first, name(last_post.second));
    line("  semaphore {}: the command takes {}, it holds {}; {}", wait.semaphore, wait.count, posted - taken, last);
  }

  struct Occurrence {
    std::uint64_t cycle; ///< on the earlier side
    Event event;
    std::size_t command;
    bool operator<(const Occurrence &o) const {
      return std::tie(cycle, event, command) < std::tie(o.cycle, o.event, o.command);
    }
  };

  void events() {
    std::vector<Occurrence> all;
    for (std::size_t i = 0; i < commands(); ++i)
      for (const Event event : kEvents) {
        const std::uint64_t cycle = std::min(time_of(at(rtl_, i), event), time_of(at(model_, i), event));
        if (cycle != timing::kNever) all.push_back({cycle, event, i});
      }
    std::sort(all.begin(), all.end());
    const Occurrence here{first_.cycle(), first_.event, first_.command};
    const auto middle = static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), here) - all.begin());
    line("events around:");
    line("  {:>10} {:>10}", "RTL", "model");
    for (std::size_t i = middle - std::min(middle, kEventsShown); i < std::min(all.size(), middle + kEventsShown);
         ++i) {
      const Occurrence &o = all[i];
      const std::uint64_t rtl = time_of(at(rtl_, o.command), o.event);
      const std::uint64_t model = time_of(at(model_, o.command), o.event);
      line("  {:>10} {:>10}  {:<5} {}{}", cycle_text(rtl), cycle_text(model), to_string(o.event), name(o.command),
           i == middle ? "  <-- first" : (rtl == model ? "" : "  <-- differs"));
    }
  }

  const EventDifference &first_;
  const TimedRun &rtl_, &model_;
  const DescribedStream &stream_;
  CommandLabel label_;
  std::string text_;
};

std::string end_text(const RunStatus &status) {
  if (status.ok()) return "no error";
  return fmt::format("{} at command {}", isa::kErrorNames[static_cast<std::size_t>(status.error)], status.error_index);
}

std::string counter_lines(const TimedRun &rtl, const TimedRun &model, std::string &first) {
  std::string text;
  std::size_t shown = 0;
  const std::vector<std::uint64_t> &a = rtl.counters.values, &b = model.counters.values;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) continue;
    const std::string name = isa::counter_name(i, rtl.counters.cores);
    if (first.empty()) first = name;
    if (++shown <= kCountersShown) text += fmt::format("  counter {:<15} RTL {:>10}  model {:>10}\n", name, a[i], b[i]);
  }
  return text;
}

} // namespace

std::string explain(const TimingComparison &comparison, const TimedRun &rtl, const TimedRun &model,
                    const DescribedStream &stream) {
  std::string text;
  if (comparison.first) text += Explanation(*comparison.first, rtl, model, stream).text();
  if (comparison.end_differs)
    text += fmt::format("  the run ends differently: RTL with {}, model with {}\n", end_text(rtl.status),
                        end_text(model.status));
  std::string counter;
  if (comparison.counters_differ != 0) text += counter_lines(rtl, model, counter);
  if (!comparison.first && !comparison.equal()) {
    const Places places = comparison.end_differs ? where_to_look_for_end() : where_to_look_for_counter(counter);
    text += fmt::format("  all events agree; where to look:\n    {}\n", places.text("    "));
  }
  if (!text.empty()) text.pop_back();
  return text;
}

} // namespace gradweave::runtime
