#include "trace/timeline/timeline.hpp"

#include "trace/timeline/lanes.hpp"
#include "trace/timeline/occupancy.hpp"
#include "trace/timeline/semaphores.hpp"
#include "trace/timeline/slice_args.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

namespace gradweave::runtime::timeline {
namespace {

using timing::CommandTimes;
using timing::kNever;

// A row's number: process, then engine, then its place among the rows of the engine.
constexpr std::uint32_t kRowsOfProcess = 10000, kRowsOfEngine = 100, kQueueRow = kRowsOfEngine - 1;

std::string describe(const NpuConfig &npu, const std::string &title) {
  return fmt::format(R"("producer":{},"title":{},"time_unit":"1 us is 1 cycle","npu":{},"clock_ghz":{},"rows":{},)"
                     R"("cols":{},"cores":{},"spm_banks":{},"bank_rows":{},"queue_depth":{})",
                     json_string("gradweave " GW_VERSION), json_string(title), json_string(npu.name), npu.clock_ghz,
                     npu.rows, npu.cols, npu.cores, npu.spm_banks, npu.bank_rows(), npu.queue_depth);
}

/// Of an engine's place: "array" and "vector" of the only core, else "array0", "array1", ..., "vector0", ...
std::string row_name(const NpuConfig &npu, std::uint32_t engine) {
  if (engine < static_cast<std::uint32_t>(isa::Engine::COMPUTE0)) return engine_name(static_cast<std::uint8_t>(engine));
  const bool unit = engine >= 2 + npu.cores;
  const std::string name = unit ? "vector" : "array";
  return npu.cores == 1 ? name : fmt::format("{}{}", name, engine - 2 - (unit ? npu.cores : 0));
}

/// `index` with as many digits as the largest below `count` has, so that names sort by number.
std::string padded(std::uint32_t index, std::uint32_t count) {
  return fmt::format("{:0{}}", index, fmt::formatted_size("{}", count - 1));
}

} // namespace

std::string_view to_string(Source source) { return source == Source::kRtl ? "RTL" : "timing model"; }

/// One run on its way into the file.
class Timeline::Drawing {
public:
  Drawing(Timeline &timeline, Source source, const Run &run, std::uint64_t offset)
      : events_(timeline.events_), process_(timeline.process(source)), pid_(static_cast<std::uint32_t>(source)),
        run_(run), offset_(offset), commands_(decode_run(run)), semaphores_(follow_semaphores(run, commands_)),
        engines_(run.npu.engines()), rows_(commands_.size()) {}

  void draw() {
    reset_counters();
    draw_run();
    for (std::size_t i = 0; i < commands_.size(); ++i)
      if (commands_[i]) place(i);
    for (std::size_t i = 0; i < commands_.size(); ++i)
      if (commands_[i]) draw_command(i);
    for (std::uint32_t e = 0; e < engines_.size(); ++e)
      draw_counter(row_name(run_.npu, e) + " queue", "commands", engines_[e].queue);
    std::vector<std::vector<Step>> banks = follow_occupancy(run_, commands_);
    for (std::uint32_t bank = 0; bank < banks.size(); ++bank)
      draw_counter("bank " + padded(bank, run_.npu.spm_banks), "rows", banks[bank]);
    for (auto &[semaphore, steps] : semaphores_.steps)
      draw_counter("semaphore " + padded(semaphore, run_.npu.semaphores), "count", steps);
  }

private:
  struct Engine {
    Lanes lanes;
    std::vector<Step> queue;
    std::uint64_t head_free = 0; ///< first cycle in which the next command can be the head of the queue
  };

  std::uint32_t row(std::uint32_t engine, std::uint32_t place) const {
    return pid_ * kRowsOfProcess + (engine + 1) * kRowsOfEngine + place;
  }

  void name_once(std::uint32_t tid, const std::string &name) {
    if (process_.rows.insert(tid).second) events_.name_row(pid_, tid, name);
  }

  void draw_run() {
    const std::uint32_t tid = pid_ * kRowsOfProcess;
    name_once(tid, "layers");
    events_.slice(pid_, tid, offset_, offset_ + run_.cycles, run_.name, "layer",
                  fmt::format(R"("cycles":{},"commands":{})", run_.cycles, run_.stream.size()));
  }

  /// Finds the command's row.
  void place(std::size_t index) {
    const CommandTimes &t = run_.times[index];
    if (t.start == kNever) return;
    const std::uint32_t e = isa::engine_place(commands_[index]->engine(), run_.npu.cores);
    const std::size_t lane = engines_[e].lanes.take(t.start, end_of(t, run_.cycles));
    if (lane >= kQueueRow)
      throw TimelineError(fmt::format("{}, command {}: in cycle {} it is one of more than {} commands that {} has "
                                      "started and not completed; no engine holds so many",
                                      run_.name, index, t.start, kQueueRow, row_name(run_.npu, e)));
    rows_[index] = row(e, static_cast<std::uint32_t>(lane));
    name_once(rows_[index], fmt::format("{}/{}", row_name(run_.npu, e), lane + 1));
  }

  void draw_command(std::size_t index) {
    const CommandTimes &t = run_.times[index];
    const isa::Decoded &command = *commands_[index];
    const CommandLabel label = run_.label(index);
    draw_queue(index, label);
    if (t.start == kNever) return;
    events_.slice(pid_, rows_[index], offset_ + t.start, offset_ + end_of(t, run_.cycles), label.text(), label.engine,
                  slice_args(index, label, command, t));
  }

  /// The command's stay in its queue and, in the queue's row, what it waits for as the queue's head.
  void draw_queue(std::size_t index, const CommandLabel &label) {
    const CommandTimes &t = run_.times[index];
    const std::uint32_t e = isa::engine_place(commands_[index]->engine(), run_.npu.cores);
    Engine &engine = engines_[e];
    const std::uint64_t queued = t.issue + 1; // what dispatch puts in is there in the next cycle
    const std::uint64_t left = std::min(t.start, run_.cycles);
    engine.queue.push_back({queued, 1});
    engine.queue.push_back({left, -1});
    const std::uint64_t head = std::max(queued, engine.head_free);
    engine.head_free = t.start == kNever ? kNever : t.start + 1;
    if (head >= left) return;
    const Release &release = semaphores_.releases[index];
    const std::uint64_t released =
        release.semaphore == isa::kNoSemaphore ? head : std::clamp(release.cycle, head, left);
    name_once(row(e, kQueueRow), row_name(run_.npu, e) + "/queue");
    const std::string args = fmt::format(R"("index":{},"command":{})", index, json_string(label.text()));
    const auto wait = [&](std::uint64_t begin, std::uint64_t end, const std::string &reason, const std::string &more) {
      if (begin < end)
        events_.slice(pid_, row(e, kQueueRow), offset_ + begin, offset_ + end, reason, "wait", args + more);
    };
    wait(head, released, fmt::format("semaphore {}", release.semaphore),
         release.poster ? fmt::format(R"(,"posted_by":{})", *release.poster) : std::string());
    wait(released, left, "engine", {});
    if (head < released && t.start != kNever && release.poster)
      events_.arrow(pid_, rows_[*release.poster], offset_ + run_.times[*release.poster].done, rows_[index],
                    offset_ + t.start);
  }

  void draw_counter(const std::string &name, const std::string &unit, std::vector<Step> &steps) {
    const auto [at, is_new] = process_.counters.try_emplace({name, unit}, 0);
    if (is_new) events_.counter(pid_, name, unit, offset_, 0);
    for_values(steps, [&, &last = at->second](std::uint64_t cycle, std::int64_t value) {
      events_.counter(pid_, name, unit, offset_ + cycle, value);
      last = value;
    });
  }

  /// An NPU begins with all semaphores at zero, whatever the run before has left.
  void reset_counters() {
    for (auto &[name, last] : process_.counters)
      if (std::exchange(last, 0) != 0) events_.counter(pid_, name.first, name.second, offset_, 0);
  }

  TraceEvents &events_;
  Process &process_;
  std::uint32_t pid_;
  const Run &run_;
  std::uint64_t offset_;
  std::vector<std::optional<isa::Decoded>> commands_;
  SemaphoreUse semaphores_;
  std::vector<Engine> engines_;
  std::vector<std::uint32_t> rows_; ///< by command that started
};

Timeline::Timeline(OutputFile &output, Compression compression, const NpuConfig &npu, const std::string &title)
    : title_(title), events_(output, compression, describe(npu, title)) {}

Timeline::Process &Timeline::process(Source source) {
  const auto [at, is_new] = processes_.try_emplace(source);
  if (is_new)
    events_.name_process(static_cast<std::uint32_t>(source), fmt::format("{}: {}", to_string(source), title_));
  return at->second;
}

void Timeline::add(Source source, const Run &run, std::uint64_t offset) {
  if (const auto at = processes_.find(source); at != processes_.end() && offset < at->second.end)
    throw std::invalid_argument(fmt::format("{} of the {} is to begin in cycle {}, but the run before it ends in {}",
                                            run.name, to_string(source), offset, at->second.end));
  Drawing(*this, source, run, offset).draw();
  process(source).end = offset + run.cycles;
}

void Timeline::commit() {
  // Some viewers drop the last sample of a counter: it is repeated at the end.
  for (const auto &[source, process] : processes_)
    for (const auto &[name, value] : process.counters)
      events_.counter(static_cast<std::uint32_t>(source), name.first, name.second, process.end, value);
  events_.commit();
}

} // namespace gradweave::runtime::timeline
