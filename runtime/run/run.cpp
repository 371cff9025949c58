#include "runtime/run/run.hpp"

#include "base/file/output_file.hpp"
#include "base/process/parallel.hpp"
#include "base/process/progress.hpp"
#include "base/process/stopwatch.hpp"
#include "compiler/ahead/plans_ahead.hpp"
#include "runtime/job/times_output.hpp"
#include "runtime/record/result_json.hpp"
#include "runtime/record/run_record.hpp"
#include "trace/trace_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

namespace gradweave::runtime {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::chrono::milliseconds kProgressInterval(100);

/// What the process of a job leaves its parent, which opens it; so it removes what a job that was ended left
/// unfinished.
struct JobOutputs {
  std::shared_ptr<std::FILE> times; ///< CYCLES and times of the commands, in bytes; null: nobody asked
  TraceFile trace;

  void open(const JobSpec &spec) {
    trace = TraceFile(spec.device.trace.file);
    if (spec.times_file.empty() && spec.timeline_file.empty()) return;
    times.reset(std::tmpfile(), [](std::FILE *file) {
      if (file != nullptr) std::fclose(file);
    });
    if (!times) throw OutputError(fmt::format("no temporary file for times of commands: {}", std::strerror(errno)));
  }
};

void put_times(std::FILE *file, const std::vector<timing::CommandTimes> &times, std::uint64_t cycles) {
  if (std::fwrite(&cycles, sizeof(cycles), 1, file) != 1 ||
      std::fwrite(times.data(), sizeof(times[0]), times.size(), file) != times.size() || std::fflush(file) != 0)
    throw OutputError(fmt::format("times of commands cannot be kept in a temporary file: {}", std::strerror(errno)));
}

/// Times that a job left, of a stream of so many commands; nothing if it left none.
std::optional<std::vector<timing::CommandTimes>> take_times(std::FILE *file, std::size_t commands,
                                                            std::uint64_t &cycles) {
  std::vector<timing::CommandTimes> times(commands);
  std::rewind(file);
  if (std::fread(&cycles, sizeof(cycles), 1, file) != 1 ||
      std::fread(times.data(), sizeof(times[0]), commands, file) != commands)
    return std::nullopt;
  return times;
}

/// A job as a task.
Task make_task(const JobSpec &spec, const JobOutputs &outputs, compiler::CompileCache &cache) {
  return [&spec, &outputs, &cache](const std::function<void(double)> &report) {
    auto last = Clock::now();
    JobEvents events;
    std::optional<timeline::Sketch> sketch;
    events.progress = [&](std::uint64_t retired, std::uint64_t total) {
      if (total == 0 || Clock::now() - last < kProgressInterval) return;
      last = Clock::now();
      report(static_cast<double>(retired) / static_cast<double>(total));
    };
    events.times = [&](const compiler::Compiled &compiled, const std::vector<timing::CommandTimes> &times,
                       std::uint64_t cycles) {
      if (outputs.times) put_times(outputs.times.get(), times, cycles);
      if (spec.sketch_bars != 0) sketch = timeline::sketch_job(spec, compiled, times, cycles);
    };
    JobSpec here = spec;
    here.device.trace.file = outputs.trace.partial();
    JobResult result = run_job(here, events, cache);
    result.trace = spec.device.trace.file;
    result.sketch = std::move(sketch);
    return to_json(result).dump(-1, ' ', false, Json::error_handler_t::replace);
  };
}

/// The cache holds streams by shape. Filling it before the fork lets all layers of a shape share one compilation.
/// Returns the seconds it took.
double compile_ahead(const JobSpec &spec, compiler::CompileCache &cache, const SignalGuard &signals,
                     const std::function<void()> &tick) {
  const Stopwatch stopwatch;
  compiler::CompileOptions options = spec.compile;
  auto last = Clock::now();
  options.progress = [&](std::uint64_t, std::uint64_t) {
    if (Clock::now() - last < kProgressInterval) return;
    last = Clock::now();
    signals.check();
    tick();
  };
  try {
    compiler::compile(spec.layers, spec.npu, options, cache);
  } catch (const compiler::CompileError &) { // the job meets it again, and reports it
  }
  return stopwatch.wall_seconds();
}

/// A result for a process that did not deliver one.
JobResult crashed(const JobSpec &spec, const TaskEnd &end) {
  JobResult result(spec);
  result.trace = result.times_file = result.timeline_file = {}; // unfinished
  result.outcome = Outcome::kDevice;
  result.failures.push_back(fmt::format("{} ({}): {}{}{}", spec.title(), compiler::to_string(spec.compile.schedule),
                                        end.problem, end.output.empty() ? "" : "; its last output:\n", end.output));
  return result;
}

/// What a job's waveform adds to its result: one that is not whole, or ended the process.
void finish_trace(TraceFile &trace, const TaskEnd &end, JobResult &result) {
  const auto fail = [&](const std::string &problem) {
    result.failures.push_back(problem);
    result.outcome = std::max(result.outcome, Outcome::kOutput);
  };
  if (const std::string problem = trace.killed_by(end.signal); !problem.empty()) fail(problem);
  if (!end.completed) return;
  try {
    trace.commit();
  } catch (const OutputError &error) {
    result.trace.clear();
    fail(error.what());
  }
}

/// Schedules may reorder the work but must not change a bit of the results.
std::vector<std::string> differences(const std::vector<JobResult> &by_schedule) {
  std::vector<std::string> found;
  const JobResult &base = by_schedule.front();
  for (const JobResult &other : by_schedule)
    for (const OutputCheck &a : base.outputs)
      for (const OutputCheck &b : other.outputs)
        if (a.layer == b.layer && a.tensor == b.tensor && a.block == b.block && a.hash != b.hash)
          found.push_back(fmt::format("layer {}: {} of schedule {} differs from that of {}", base.layers[a.layer].name,
                                      compiler::to_string(a.tensor), compiler::to_string(other.requested),
                                      compiler::to_string(base.requested)));
  return found;
}

/// Gathers results and hands on layers in network order.
class Collector {
public:
  Collector(const RunOptions &options, RunResult &run, const LayerDone &layer_done, ProgressDisplay &display)
      : schedules_(options.schedules.size()), results_(options.layers.size() * schedules_), run_(run),
        layer_done_(layer_done), display_(display) {}

  void add(std::size_t job, JobResult result) {
    run_.outcome = std::max(run_.outcome, result.outcome);
    run_.failures.insert(run_.failures.end(), result.failures.begin(), result.failures.end());
    results_[job] = std::move(result);
    while (next_ < results_.size() / schedules_ && complete(next_))
      flush(next_++);
  }

private:
  bool complete(std::size_t layer) const {
    const auto first = results_.begin() + static_cast<std::ptrdiff_t>(layer * schedules_);
    return std::all_of(first, first + static_cast<std::ptrdiff_t>(schedules_),
                       [](const auto &r) { return r.has_value(); });
  }

  void flush(std::size_t layer) {
    std::vector<JobResult> by_schedule;
    for (std::size_t s = 0; s < schedules_; ++s)
      by_schedule.push_back(std::move(*results_[layer * schedules_ + s]));
    for (std::string &text : differences(by_schedule)) {
      run_.outcome = std::max(run_.outcome, Outcome::kMismatch);
      run_.failures.push_back(std::move(text));
    }
    display_.clear();
    layer_done_(by_schedule);
    run_.layers.push_back(std::move(by_schedule));
  }

  std::size_t schedules_;
  std::vector<std::optional<JobResult>> results_;
  RunResult &run_;
  const LayerDone &layer_done_;
  ProgressDisplay &display_;
  std::size_t next_ = 0;
};

/// What a child process delivered, or that it delivered nothing.
JobResult result_of(const JobSpec &spec, const TaskEnd &end, double compile_seconds, ProgressDisplay &display) {
  if (!end.completed) return crashed(spec, end);
  JobResult result = result_from_json(Json::parse(end.result));
  result.layers = spec.told();
  result.compile_seconds = compile_seconds;
  result.process_seconds = end.cpu_seconds;
  if (!end.output.empty()) {
    display.clear();
    std::fprintf(stderr, "%s: %s", spec.title().c_str(), end.output.c_str());
  }
  return result;
}

/// The expected seconds of each job.
std::vector<double> weights_of(const Estimate &expected) {
  std::vector<double> weights;
  for (const auto &job : expected.jobs)
    weights.push_back(job.seconds());
  return weights;
}

/// All jobs of a run, from those that a record kept to those that child processes still have to do.
class Jobs {
public:
  Jobs(const RunOptions &options, const RunSupport &support, const SignalGuard &signals, const LayerDone &layer_done)
      : parallel_(options.jobs), specs_(job_specs(options)), outputs_(specs_.size()), ended_(specs_.size()),
        times_output_(options.times, options.timeline), compile_seconds_(specs_.size(), 0),
        weights_(weights_of(support.expected)), record_(support.record), signals_(signals),
        display_(weights_, options.quiet), collector_(options, run_, layer_done, display_) {
    cache_.plans.store = options.plans;
  }

  RunResult run() {
    const Stopwatch stopwatch;
    std::vector<Task> tasks;
    for (std::size_t job = 0; job < specs_.size(); ++job)
      tasks.push_back(make_task(specs_[job], outputs_[job], cache_));
    const std::vector<std::size_t> order = longest_first(take_kept());
    plan_ahead(order);
    run_tasks(tasks, order, parallel_, signals_, events());
    if (run_.outcome < Outcome::kUnavailable) times_output_.commit();
    run_.wall_seconds = stopwatch.wall_seconds();
    if (record_ != nullptr) record_->end(run_.outcome, display_.progress());
    return std::move(run_);
  }

private:
  /// Searches the plans of all jobs on all cores: later, each core has a process of its own to run.
  void plan_ahead(const std::vector<std::size_t> &jobs) {
    std::vector<compiler::PlansAhead::Compilation> compilations;
    for (const std::size_t job : jobs)
      if (const JobSpec &spec = specs_[job]; !spec.paper) compilations.push_back({spec.layers, spec.npu, spec.compile});
    compiler::PlansAhead ahead(std::move(compilations), cache_, usable_cores());
    while (!ahead.wait(kProgressInterval)) {
      signals_.check();
      tick();
    }
  }

  /// Returns the jobs whose results the record does not have.
  std::vector<std::size_t> take_kept() {
    std::vector<std::size_t> left;
    double expected = 0;
    for (std::size_t job = 0; job < specs_.size(); ++job) {
      std::optional<JobResult> kept = record_ != nullptr ? record_->kept(specs_[job]) : std::nullopt;
      if (!kept) {
        left.push_back(job);
        expected += weights_[job];
        continue;
      }
      display_.skip(job);
      ++run_.kept;
      collector_.add(job, std::move(*kept));
    }
    display_.expect(expected / parallel_);
    return left;
  }

  /// A long job that starts last would run alone at the end.
  std::vector<std::size_t> longest_first(std::vector<std::size_t> jobs) const {
    std::sort(jobs.begin(), jobs.end(), [&](std::size_t a, std::size_t b) {
      return weights_[a] != weights_[b] ? weights_[a] > weights_[b] : a < b;
    });
    return jobs;
  }

  PoolEvents events() {
    PoolEvents events;
    events.starting = [&](std::size_t job) {
      outputs_[job].open(specs_[job]);
      compile_seconds_[job] = compile_ahead(specs_[job], cache_, signals_, [&] { tick(); });
    };
    events.progress = [&](std::size_t job, double fraction) { display_.update(job, fraction); };
    events.tick = [&] { tick(); };
    events.ended = [&](std::size_t job, const TaskEnd &end) { return ended(job, end); };
    return events;
  }

  void tick() {
    display_.tick();
    if (record_ != nullptr) record_->progress(display_.progress());
  }

  /// Returns whether the other jobs have a chance.
  bool ended(std::size_t job, const TaskEnd &end) {
    const JobSpec &spec = specs_[job];
    JobResult result = result_of(spec, end, compile_seconds_[job], display_);
    finish_trace(outputs_[job].trace, end, result);
    outputs_[job].trace = {};
    ended_[job] = true;
    while (written_ < specs_.size() && ended_[written_])
      write_times(written_++);
    const bool go_on = result.outcome < Outcome::kUnavailable;
    display_.finish(job, spec.layer().name);
    if (record_ != nullptr) record_->ended(spec, result);
    collector_.add(job, std::move(result));
    return go_on;
  }

  /// Of jobs in their order: a file of all holds one behind another.
  void write_times(std::size_t job) {
    const std::shared_ptr<std::FILE> file = std::move(outputs_[job].times);
    if (!file) return;
    const JobSpec &spec = specs_[job];
    const compiler::Compiled compiled = compiler::compile(spec.layers, spec.npu, spec.compile, cache_);
    std::uint64_t cycles = 0;
    if (const auto times = take_times(file.get(), compiled.stream.size(), cycles))
      times_output_.add(spec, compiled, *times, cycles);
  }

  std::uint32_t parallel_;
  std::vector<JobSpec> specs_;
  std::vector<JobOutputs> outputs_;
  std::vector<bool> ended_;
  std::size_t written_ = 0; ///< jobs whose times are in times_output_
  TimesOutput times_output_;
  compiler::CompileCache cache_;
  std::vector<double> compile_seconds_, weights_;
  RunRecord *record_;
  const SignalGuard &signals_;
  RunResult run_;
  ProgressDisplay display_;
  Collector collector_;
};

} // namespace

RunResult run_all(const RunOptions &options, const RunSupport &support, const SignalGuard &signals,
                  const LayerDone &layer_done) {
  return Jobs(options, support, signals, layer_done).run();
}

} // namespace gradweave::runtime
