// gradweave simulate
#include "app/cli/common/options.hpp"
#include "app/cli/common/repeat_command.hpp"
#include "app/cli/common/report_files.hpp"
#include "app/cli/common/settings.hpp"
#include "app/cli/common/work.hpp"
#include "app/cli/run/commands.hpp"
#include "app/report/json_report.hpp"
#include "app/report/page/run_page.hpp"
#include "app/report/simulation_report.hpp"
#include "base/file/output_file.hpp"
#include "base/process/parallel.hpp"
#include "runtime/run/lookup.hpp"
#include "runtime/run/simulation.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <unistd.h>

namespace gradweave::cli {
namespace {

struct SimulateArguments {
  std::string program = "gradweave"; ///< how the command was called
  WorkArguments work;
  std::string stream; ///< a stream file to be simulated instead; empty: none
  std::string json, html;
  unsigned jobs = 0;           ///< 0: one a core
  std::string times, timeline; ///< file, or directory if it is one or ends in '/'; empty: none
  bool quiet = false, from_make = false;
};

using runtime::RunOptions;
using runtime::RunResult;

std::string reproduce(const SimulateArguments &a) {
  Reproduction command(a.program, "simulate", a.from_make);
  if (a.stream.empty()) {
    add_work(command, a.work);
  } else {
    command.add_word(a.stream);
    command.add("NPU", "--npu", a.work.npu);
    command.add_each("SET", "--set", a.work.set);
  }
  if (!a.times.empty()) command.add("TIMES", "--times", a.times);
  if (!a.timeline.empty()) command.add("TIMELINE", "--timeline", a.timeline);
  return command.text();
}

void add_work_of(const SimulateArguments &a, RunOptions &options) {
  options.npu = a.work.npu;
  if (!a.stream.empty()) {
    options.stream = a.stream;
    options.config = load_machine(runtime::find_npu(a.work.npu), parse_settings(a.work.set).machine);
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
  options.compile = work.compile;
}

/// Sees that the times of commands can be written to `path`, as `option` asks.
void check_times_output(const RunOptions &options, const std::string &option, const std::string &path) {
  if (names_directory(path))
    make_output_directory(path, option + " directory");
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
  options.sketch = !a.html.empty();
}

int simulate(const SimulateArguments &a) {
  const SignalGuard signals; // before any output is opened: an interrupted run removes what it began
  const bool to_stdout =
      uses_standard_output({{"--json", a.json}, {"--html", a.html}, {"--times", a.times}, {"--timeline", a.timeline}});
  RunOptions options;
  options.backend = runtime::Backend::kTiming;
  options.quiet = a.quiet;
  options.jobs = a.jobs != 0 ? a.jobs : usable_cores();
  options.reproduce = reproduce(a);
  add_work_of(a, options);
  if (!a.stream.empty()) check_stream_name(a.stream);
  const std::vector<isa::Command> stream =
      a.stream.empty() ? std::vector<isa::Command>{} : runtime::load_stream(a.stream);
  add_times(a, options);
  const std::unique_ptr<compiler::PlanStore> plans = plan_store(a.work);
  options.plans = plans.get();
  ReportFiles files(a.json, a.html);

  runtime::SimulationReport report(options, to_stdout ? stderr : stdout);
  runtime::SimulationEvents events;
  events.layer_done = [&](const std::vector<runtime::JobResult> &by_schedule) { report.layer(by_schedule); };
  events.interrupted = [&](const Interrupted &signal) {
    files.abandon();
    std::fprintf(stderr, "gradweave: error: %s\n", signal.what());
    ::_exit(kInterrupted);
  };
  report.begin();
  const RunResult result = runtime::simulate(options, stream, signals, events);
  if (files.asked()) files.commit(run_json(options, result), report::run_page);
  report.end(result);
  return exit_code(result.outcome);
}

} // namespace

void add_simulate(CLI::App &app, const Invocation &invocation, Chosen &chosen) {
  const auto arguments = std::make_shared<SimulateArguments>(); // as long as the parser
  SimulateArguments &a = *arguments;
  a.program = invocation.program;
  CLI::App *command = app.add_subcommand("simulate", "Count the cycles of a network or a stream on the timing model");
  add_work_options(*command, a.work, Schedules::kSeveral);
  add_plan_cache_option(*command, a.work);
  command->add_option("STREAM", a.stream, "Command stream to simulate instead: .gws, or text as disasm writes it");
  add_report_options(*command, a.json, a.html, "the report (docs/report.md)");
  add_times_options(*command, a.times, a.timeline);
  command->add_option("--jobs", a.jobs, "Threads that look for plans; default: one a core")
      ->check(check_whole_number)
      ->check(CLI::Range(1U, 1024U));
  command->add_flag("--quiet", a.quiet, "No progress on standard error");
  command->add_flag("--from-make", a.from_make)->group("");
  command->footer("Examples:\n"
                  "  gradweave simulate --model bert_tiny --npu small\n"
                  "  gradweave simulate --model resnet50 --npu large --pass forward --batch 1 --json report.json\n"
                  "  gradweave simulate streams/0-embed.gws --npu small --times -");
  command->callback([arguments, &a, &chosen, command] {
    // Not excludes(): that would come before the complaint about an unknown option, whose value looks like a STREAM.
    for (const char *option : {"--model", "--batch", "--schedule", "--pass", "--layers"})
      if (!a.stream.empty() && command->count(option) != 0) throw CLI::ExcludesError(option, "STREAM");
    chosen = [arguments] { return simulate(*arguments); };
  });
}

} // namespace gradweave::cli
