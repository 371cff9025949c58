// gradweave cosim
#include "app/cli/commands.hpp"
#include "app/cli/long_run.hpp"
#include "app/cli/repeat_command.hpp"
#include "app/cli/work.hpp"
#include "app/report/json_report.hpp"
#include "base/output_file.hpp"
#include "app/report/text_report.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <thread>

namespace gradweave::cli {
namespace {

using runtime::RunOptions;
using runtime::RunResult;

std::string reproduce(const CosimArguments &a) {
  Reproduction command(a.program, "cosim", a.from_make);
  add_work(command, a.work);
  command.add("DATA", "--data", a.data);
  command.add("SEED", "--seed", std::to_string(a.seed));
  if (a.backend != "rtl") command.add("BACKEND", "--backend", a.backend);
  if (a.stall_probability > 0) {
    command.add("", "--stall-probability", fmt::format("{}", a.stall_probability));
    command.add("", "--stress-seed", std::to_string(a.stress_seed));
  }
  if (a.trace) command.add("TRACE", "--trace", "fst");
  if (!a.trace_file.empty()) command.add("", "--trace-file", a.trace_file);
  if (a.trace_from != 0) command.add("", "--trace-from", std::to_string(a.trace_from));
  if (a.trace_to != ~std::uint64_t{0}) command.add("", "--trace-to", std::to_string(a.trace_to));
  if (!a.times.empty()) command.add("TIMES", "--times", a.times);
  if (!a.timeline.empty()) command.add("TIMELINE", "--timeline", a.timeline);
  return command.text();
}

void add_trace(const CosimArguments &a, RunOptions &options) {
  if (!a.trace && a.trace_file.empty()) return;
  if (options.backend != runtime::Backend::kRtl)
    throw std::invalid_argument(
        fmt::format("--trace: the {} backend has no signals to trace; use --backend rtl or leave --trace out",
                    to_string(options.backend)));
  if (a.trace_from > a.trace_to)
    throw std::invalid_argument(fmt::format("--trace-from {} is after --trace-to {}", a.trace_from, a.trace_to));
  options.trace = {a.trace_file, a.trace_from, a.trace_to};
  if (!a.trace_file.empty()) {
    if (options.layers.size() * options.schedules.size() != 1)
      throw std::invalid_argument(
          fmt::format("--trace-file holds one simulation, but {} are asked for; pick one layer with "
                      "--layers, or use --trace-dir",
                      options.layers.size() * options.schedules.size()));
    const runtime::OutputFile probe(a.trace_file);
    return;
  }
  runtime::make_output_directory(a.trace_dir, "--trace-dir");
  options.trace_dir = a.trace_dir;
}

/// Sees that the times of commands can be written to `path`, as `option` asks.
void check_times_output(const RunOptions &options, const std::string &option, const std::string &path) {
  if (path.empty()) return;
  if (!has_time(options.backend))
    throw std::invalid_argument(
        fmt::format("{}: the {} backend has no time; use --backend rtl or timing", option, to_string(options.backend)));
  const std::size_t jobs = options.layers.size() * options.schedules.size();
  if (runtime::names_directory(path))
    runtime::make_output_directory(path, option + " directory");
  else if (jobs != 1)
    throw std::invalid_argument(fmt::format("{0} {1}: a file holds one simulation, but {2} are asked for; name a "
                                            "directory, as {1}/, or pick one layer with --layers",
                                            option, path, jobs));
  else
    const runtime::OutputFile probe(path);
}

void add_times(const CosimArguments &a, RunOptions &options) {
  check_times_output(options, "--times", a.times);
  check_times_output(options, "--timeline", a.timeline);
  options.times = a.times;
  options.timeline = a.timeline;
}

RunOptions make_options(const CosimArguments &a) {
  const Work work = resolve(a.work);
  RunOptions options;
  options.model = a.work.model;
  options.npu = a.work.npu;
  options.network = work.network;
  options.config = work.npu;
  options.layers = work.layers;
  options.schedules = parse_schedules(a.work.schedule);
  options.pass = work.pass;
  options.tune = a.work.tune;
  options.partition = work.partition;
  options.parts = work.parts;
  options.reduction = work.reduction;
  options.backend = runtime::parse_backend(a.backend);
  options.data = runtime::parse_data_kind(a.data);
  options.seed = a.seed;
  options.jobs = a.jobs != 0 ? a.jobs : std::max(1U, std::thread::hardware_concurrency());
  if (a.stall_probability > 0 && options.backend != runtime::Backend::kRtl)
    throw std::invalid_argument(fmt::format(
        "--stall-probability: the {} backend has no random stalls; use --backend rtl", to_string(options.backend)));
  options.stress = {a.stress_seed, a.stall_probability};
  add_trace(a, options);
  add_times(a, options);
  options.quiet = a.quiet;
  options.reproduce = reproduce(a);
  return options;
}

} // namespace

int cosim(const CosimArguments &a) {
  if (a.status) return show_runs(*a.status);
  if (!a.stop.empty()) return stop(a.stop);
  const runtime::SignalGuard signals; // before any output is opened: an interrupted run removes what it began
  const RunOptions options = make_options(a);
  const bool to_stdout = uses_standard_output({{"--json", a.json}, {"--times", a.times}, {"--timeline", a.timeline}});
  std::optional<runtime::OutputFile> json;
  if (!a.json.empty()) json.emplace(a.json);
  if (a.dry_run) return kOk;
  if (options.backend == runtime::Backend::kRtl) require_rtl(options.config, a.work.npu);
  const RunPlan plan = plan_run(a, options);
  if (!plan.running.empty()) {
    fmt::print("this run goes on already:\n");
    show_runs(plan.running);
    return kOk;
  }
  if (plan.background) {
    json.reset(); // the process that goes on opens it anew
    if (!continue_in_background(plan, a.program)) return kOk;
    if (!a.json.empty()) json.emplace(a.json);
  }
  if (plan.record) plan.record->begin(plan.background, options.layers.size() * options.schedules.size());

  runtime::TextReport report(options, to_stdout ? stderr : stdout);
  report.begin();
  const RunResult result =
      run_all(options, plan.support, signals,
              [&](const std::vector<runtime::JobResult> &by_schedule) { report.layer(by_schedule); });
  if (json) json->commit(json_report(options, result));
  report.end(result);
  return exit_code(result.outcome);
}

} // namespace gradweave::cli
