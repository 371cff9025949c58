#include "runtime/run.hpp"

#include "base/output_file.hpp"
#include "base/progress.hpp"
#include "base/stopwatch.hpp"
#include "runtime/job_timeline.hpp"
#include "runtime/result_json.hpp"
#include "runtime/run_record.hpp"
#include "trace/command_trace.hpp"
#include "trace/trace_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
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

/// Files that a job writes, null for none. They are opened by the parent, whose copies remove what a job that was ended
/// left unfinished.
struct JobOutputs {
  std::unique_ptr<OutputFile> times, timeline;
  TraceFile trace;

  void open(const JobSpec &spec) {
    trace = TraceFile(spec.device.trace.file);
    if (!spec.times_file.empty()) times = std::make_unique<OutputFile>(spec.times_file);
    if (!spec.timeline_file.empty()) timeline = std::make_unique<OutputFile>(spec.timeline_file);
  }
};

/// A job as a task.
Task make_task(const JobSpec &spec, const JobOutputs &outputs, compiler::CompileCache &cache) {
  return [&spec, &outputs, &cache](const std::function<void(double)> &report) {
    auto last = Clock::now();
    JobEvents events;
    events.progress = [&](std::uint64_t retired, std::uint64_t total) {
      if (total == 0 || Clock::now() - last < kProgressInterval) return;
      last = Clock::now();
      report(static_cast<double>(retired) / static_cast<double>(total));
    };
    events.times = [&](const compiler::Compiled &compiled, const std::vector<timing::CommandTimes> &times,
                       std::uint64_t cycles) {
      if (outputs.times) {
        outputs.times->append(command_trace_header());
        outputs.times->commit(command_trace_rows(spec.layer().name, compiled.stream, compiled.info, times));
      }
      if (outputs.timeline) timeline::write_job_timeline(*outputs.timeline, spec, compiled, times, cycles);
    };
    JobSpec here = spec;
    here.device.trace.file = outputs.trace.partial();
    JobResult result = run_job(here, events, cache);
    result.trace = spec.device.trace.file;
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
        if (a.layer == b.layer && a.tensor == b.tensor && a.hash != b.hash)
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

} // namespace

RunResult run_all(const RunOptions &options, const RunSupport &support, const SignalGuard &signals,
                  const LayerDone &layer_done) {
  const Stopwatch stopwatch;
  RunRecord *const record = support.record;
  const std::vector<JobSpec> specs = job_specs(options);
  std::vector<JobOutputs> outputs(specs.size());
  compiler::CompileCache cache;
  std::vector<Task> tasks;
  std::vector<double> weights;
  for (std::size_t job = 0; job < specs.size(); ++job) {
    tasks.push_back(make_task(specs[job], outputs[job], cache));
    weights.push_back(support.expected.jobs[job].seconds());
  }

  RunResult run;
  ProgressDisplay display(weights, options.quiet);
  Collector collector(options, run, layer_done, display);
  std::vector<std::size_t> order;
  double expected = 0;
  for (std::size_t job = 0; job < specs.size(); ++job) {
    std::optional<JobResult> kept = record != nullptr ? record->kept(specs[job]) : std::nullopt;
    if (!kept) {
      order.push_back(job);
      expected += weights[job];
      continue;
    }
    display.skip(job);
    ++run.kept;
    collector.add(job, std::move(*kept));
  }
  display.expect(expected / options.jobs);
  // The longest first: a long job that starts last would run alone at the end.
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return weights[a] != weights[b] ? weights[a] > weights[b] : a < b; });

  std::vector<double> compile_seconds(specs.size(), 0);
  const auto tick = [&] {
    display.tick();
    if (record != nullptr) record->progress(display.progress());
  };

  PoolEvents events;
  events.starting = [&](std::size_t job) {
    outputs[job].open(specs[job]);
    compile_seconds[job] = compile_ahead(specs[job], cache, signals, tick);
  };
  events.progress = [&](std::size_t job, double fraction) { display.update(job, fraction); };
  events.tick = tick;
  events.ended = [&](std::size_t job, const TaskEnd &end) {
    const JobSpec &spec = specs[job];
    JobResult result;
    if (end.completed) {
      result = result_from_json(Json::parse(end.result));
      result.layers = spec.layers;
      result.compile_seconds = compile_seconds[job];
      result.process_seconds = end.cpu_seconds;
      if (!end.output.empty()) {
        display.clear();
        std::fprintf(stderr, "%s: %s", spec.title().c_str(), end.output.c_str());
      }
    } else {
      result = crashed(spec, end);
    }
    finish_trace(outputs[job].trace, end, result);
    outputs[job] = {};
    const bool go_on = result.outcome < Outcome::kUnavailable;
    display.finish(job, spec.layer().name);
    if (record != nullptr) record->ended(spec, result);
    collector.add(job, std::move(result));
    return go_on;
  };
  run_tasks(tasks, order, options.jobs, signals, events);
  run.wall_seconds = stopwatch.wall_seconds();
  if (record != nullptr) record->end(run.outcome, display.progress());
  return run;
}

} // namespace gradweave::runtime
