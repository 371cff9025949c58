// gradweave simulate
#include "app/cli/commands.hpp"
#include "app/cli/repeat_command.hpp"
#include "app/cli/work.hpp"
#include "app/report/json_report.hpp"
#include "runtime/lookup.hpp"
#include "base/output_file.hpp"
#include "runtime/simulation.hpp"
#include "app/report/simulation_report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <stdexcept>
#include <unistd.h>

namespace gradweave::cli {
namespace {

using runtime::RunOptions;
using runtime::RunResult;

std::string reproduce(const SimulateArguments &a) {
  Reproduction command(a.program, "simulate", a.from_make);
  if (a.stream.empty()) {
    add_work(command, a.work);
  } else {
    command.add_word(a.stream);
    command.add("NPU", "--npu", a.work.npu);
  }
  if (!a.times.empty()) command.add("TIMES", "--times", a.times);
  if (!a.timeline.empty()) command.add("TIMELINE", "--timeline", a.timeline);
  return command.text();
}

void add_work_of(const SimulateArguments &a, RunOptions &options) {
  options.npu = a.work.npu;
  if (!a.stream.empty()) {
    options.stream = a.stream;
    options.config = load_npu_config(runtime::find_npu(a.work.npu));
    options.layers = {runtime::stream_layer(a.stream)};
    options.network.name = options.layers.front().name;
    options.network.layers = options.layers;
    options.schedules = {compiler::Schedule::kSequential}; // that of the stream is unknown; this only counts it once
    return;
  }
  const Work work = resolve(a.work);
  options.model = a.work.model;
  options.network = work.network;
  options.config = work.npu;
  options.layers = work.layers;
  options.schedules = parse_schedules(a.work.schedule);
  options.pass = work.pass;
  options.tune = a.work.tune;
  options.partition = work.partition;
  options.parts = work.parts;
  options.reduction = work.reduction;
}

/// Sees that the times of commands can be written to `path`, as `option` asks.
void check_times_output(const RunOptions &options, const std::string &option, const std::string &path) {
  if (runtime::names_directory(path))
    runtime::make_output_directory(path, option + " directory");
  else if (!path.empty() && options.compares())
    throw std::invalid_argument(fmt::format("{0} {1}: a file holds one schedule, but {2} are asked for; name a "
                                            "directory, as {1}/, or pick one with --schedule",
                                            option, path, options.schedules.size()));
}

void add_times(const SimulateArguments &a, RunOptions &options) {
  check_times_output(options, "--times", a.times);
  check_times_output(options, "--timeline", a.timeline);
  options.times = a.times;
  options.timeline = a.timeline;
}

} // namespace

int simulate(const SimulateArguments &a) {
  const runtime::SignalGuard signals; // before any output is opened: an interrupted run removes what it began
  const bool to_stdout = uses_standard_output({{"--json", a.json}, {"--times", a.times}, {"--timeline", a.timeline}});
  RunOptions options;
  options.backend = runtime::Backend::kTiming;
  options.quiet = a.quiet;
  options.reproduce = reproduce(a);
  add_work_of(a, options);
  if (!a.stream.empty()) check_stream_name(a.stream);
  const std::vector<isa::Command> stream =
      a.stream.empty() ? std::vector<isa::Command>{} : runtime::load_stream(a.stream);
  add_times(a, options);
  std::optional<runtime::OutputFile> json;
  if (!a.json.empty()) json.emplace(a.json);

  runtime::SimulationReport report(options, to_stdout ? stderr : stdout);
  runtime::SimulationEvents events;
  events.layer_done = [&](const std::vector<runtime::JobResult> &by_schedule) { report.layer(by_schedule); };
  events.interrupted = [&](const runtime::Interrupted &signal) {
    json.reset();
    std::fprintf(stderr, "gradweave: error: %s\n", signal.what());
    ::_exit(kInterrupted);
  };
  report.begin();
  const RunResult result = runtime::simulate(options, stream, signals, events);
  if (json) json->commit(json_report(options, result));
  report.end(result);
  return exit_code(result.outcome);
}

} // namespace gradweave::cli
