#include "runtime/run/simulation.hpp"

#include "base/file/output_file.hpp"
#include "base/process/heartbeat.hpp"
#include "base/process/parallel.hpp"
#include "base/process/peak_memory.hpp"
#include "base/process/progress.hpp"
#include "base/process/stopwatch.hpp"
#include "compiler/ahead/plans_ahead.hpp"
#include "compiler/cost/access_count.hpp"
#include "isa/assembler.hpp"
#include "runtime/data/check.hpp"
#include "runtime/job/times_output.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

namespace gradweave::runtime {
namespace {

namespace fs = std::filesystem;

std::uint64_t macs_of(const std::vector<isa::Command> &stream) {
  std::uint64_t macs = 0;
  for (const isa::Command &command : stream) {
    const auto decoded = isa::decode(command);
    if (!decoded) continue;
    if (const auto *gemm = std::get_if<isa::GemmCommand>(&decoded->op))
      macs += std::uint64_t{gemm->m} * gemm->n * gemm->k;
    if (const auto *conv = std::get_if<isa::ConvCommand>(&decoded->op))
      macs += std::uint64_t{conv->product.m} * conv->product.n * conv->steps();
  }
  return macs;
}

/// Runs the commands of a file. There is no plan to check their counters against.
JobResult run_stream(const JobSpec &spec, const std::vector<isa::Command> &stream, const JobEvents &events) {
  compiler::Compiled layer; // one of which nothing but the commands is known
  layer.layers = spec.layers;
  layer.stream = stream;
  JobResult result(spec);
  result.commands = stream.size();
  result.macs = macs_of(stream);
  const auto device = make_timing_device(spec.npu, spec.device);
  const Stopwatch stopwatch;
  device->submit(stream);
  const RunStatus status = device->wait();
  result.cpu_seconds = stopwatch.cpu_seconds();
  result.wall_seconds = stopwatch.wall_seconds();
  result.counters = device->read_counters();
  if (events.times) events.times(layer, device->command_times(), result.cycles());
  if (!status.ok()) {
    result.outcome = Outcome::kDevice;
    result.failures.push_back(
        fmt::format("stream {}: the NPU stopped with {}", spec.layer().name, describe_stop(stream, status)));
    return result;
  }
  result.accesses = compiler::count_accesses(stream, spec.npu);
  for (const std::string &problem : check_accesses(result.accesses, spec.npu, result.counters)) {
    result.outcome = Outcome::kMismatch;
    result.failures.push_back(fmt::format("stream {}: {}", spec.layer().name, problem));
  }
  return result;
}

std::vector<compiler::PlansAhead::Compilation> searched_compilations(const RunOptions &options,
                                                                     const std::vector<JobSpec> &specs) {
  std::vector<compiler::PlansAhead::Compilation> compilations;
  for (const JobSpec &spec : specs)
    if (options.stream.empty() && !spec.paper) compilations.push_back({spec.layers, spec.npu, spec.compile});
  return compilations;
}

double weight_of(const JobSpec &spec) {
  double weight = 0;
  for (const compiler::Layer &layer : spec.layers)
    weight += compiler::macs(layer);
  return weight;
}

} // namespace

std::vector<isa::Command> load_stream(const std::string &file) {
  const std::string text = read_user_bytes(file, {"command stream", kMaxBulkBytes});
  using std::string_view_literals::operator""sv;
  const bool binary = text.compare(0, 4, "GWS\0"sv) == 0 || fs::path(file).extension() == ".gws";
  std::vector<isa::Command> stream = binary ? isa::parse_stream_file(text, file) : isa::assemble(text, file);
  if (stream.empty()) throw ConfigError(fmt::format("{}: no commands in it; give at least one", file));
  return stream;
}

compiler::Layer stream_layer(const std::string &file) {
  compiler::Layer layer;
  layer.name = fs::path(file).stem().string();
  return layer;
}

namespace {

/// Compiling takes longer than simulating what comes of it: its progress is what is shown.
void show_compilations(std::vector<JobSpec> &specs, Heartbeat &heartbeat, ProgressDisplay &display,
                       const SignalGuard &signals) {
  for (std::size_t job = 0; job < specs.size(); ++job)
    specs[job].compile.progress = [&heartbeat, &display, &signals, job](std::uint64_t done, std::uint64_t all) {
      signals.check();
      const auto lock = heartbeat.lock();
      display.update(job, static_cast<double>(done) / static_cast<double>(all));
    };
}

} // namespace

RunResult simulate(const RunOptions &options, const std::vector<isa::Command> &stream, const SignalGuard &signals,
                   const SimulationEvents &events) {
  const Stopwatch stopwatch;
  std::vector<JobSpec> specs = job_specs(options);
  std::vector<double> weights(specs.size());
  std::transform(specs.begin(), specs.end(), weights.begin(), weight_of);
  TimesOutput times_output(options.times, options.timeline);
  ProgressDisplay display(weights, options.quiet);
  Heartbeat heartbeat(display);
  RunResult run;
  std::vector<JobResult> by_schedule;
  compiler::CompileCache cache;
  cache.plans.store = options.plans;
  show_compilations(specs, heartbeat, display, signals);
  const compiler::PlansAhead ahead(searched_compilations(options, specs), cache, options.jobs);
  for (std::size_t job = 0; job < specs.size() && run.outcome < Outcome::kUnavailable; ++job) {
    signals.check();
    JobEvents job_events;
    std::optional<timeline::Sketch> sketch;
    if (events.times || times_output.asked() || options.sketch)
      job_events.times = [&](const compiler::Compiled &compiled, const std::vector<timing::CommandTimes> &times,
                             std::uint64_t cycles) {
        if (events.times) events.times(specs[job], compiled, times, cycles);
        const auto lock = heartbeat.lock();
        times_output.add(specs[job], compiled, times, cycles);
        if (options.sketch) sketch = timeline::sketch_job(specs[job], compiled, times, cycles);
      };
    by_schedule.push_back(options.stream.empty() ? run_job(specs[job], job_events, cache)
                                                 : run_stream(specs[job], stream, job_events));
    JobResult &result = by_schedule.back();
    result.sketch = std::move(sketch);
    run.outcome = std::max(run.outcome, result.outcome);
    run.failures.insert(run.failures.end(), result.failures.begin(), result.failures.end());

    const auto lock = heartbeat.lock();
    display.finish(job, result.layer().name);
    if (by_schedule.size() < options.schedules.size()) continue;
    display.clear();
    events.layer_done(by_schedule);
    run.layers.push_back(std::exchange(by_schedule, {}));
  }
  const auto lock = heartbeat.lock();
  if (run.outcome < Outcome::kUnavailable) times_output.commit();
  run.wall_seconds = stopwatch.wall_seconds();
  run.peak_memory_bytes = peak_memory_bytes();
  return run;
}

} // namespace gradweave::runtime
