// gradweave simulate
#include "app/cli/common/options.hpp"
#include "app/cli/common/report_files.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/common/work.hpp"
#include "app/cli/run/commands.hpp"
#include "app/cli/run/simulate_arguments.hpp"
#include "app/cli/run/step_options.hpp"
#include "app/report/energy/accelergy.hpp"
#include "app/report/json_report.hpp"
#include "app/report/plan_report.hpp"
#include "app/report/simulation_report.hpp"
#include "base/file/output_file.hpp"
#include "runtime/run/simulation.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>

namespace gradweave::cli {
namespace {

using runtime::RunOptions;
using runtime::RunResult;

int simulate(const SimulateArguments &a, const LargerParts &larger, const SignalGuard &signals) {
  if (a.step) return larger.simulate_step(a, signals);
  require_no_step_options(a);
  const bool to_stdout =
      uses_standard_output({{"--json", a.json}, {"--html", a.html}, {"--times", a.times}, {"--timeline", a.timeline}});
  if (!a.stream.empty()) check_stream_name(a.stream);
  const std::vector<isa::Command> stream =
      a.stream.empty() ? std::vector<isa::Command>{} : runtime::load_stream(a.stream);
  RunOptions options = a.stream.empty() ? simulate_options(a, resolve(a.work)) : stream_options(a);
  const std::unique_ptr<compiler::PlanStore> plans = plan_store(a.work);
  options.plans = plans.get();
  options.sketch = !a.html.empty();
  ReportFiles files(a.json, a.html);
  std::optional<report::AccelergyFiles> accelergy;
  if (!a.accelergy.empty()) accelergy.emplace(a.accelergy, options.schedules.size());

  runtime::SimulationReport report(options, to_stdout ? stderr : stdout);
  runtime::SimulationEvents events;
  events.layer_done = [&](const std::vector<runtime::JobResult> &by_schedule) { report.layer(by_schedule); };
  report.begin();
  const RunResult result = runtime::simulate(options, stream, signals, events);
  if (files.asked()) files.commit(report_json(options, result), larger.run_page);
  if (accelergy) commit_accelergy(*accelergy, options, result);
  report.end(result);
  return exit_code(result.outcome);
}

} // namespace

void add_simulate(CLI::App &app, const Invocation &invocation, Chosen &chosen) {
  const auto arguments = std::make_shared<SimulateArguments>(); // as long as the parser
  SimulateArguments &a = *arguments;
  a.program = invocation.program;
  CLI::App *command = add_subcommand(app, "simulate");
  add_work_options(*command, a.work, Schedules::kSeveral);
  add_plan_cache_option(*command, a.work);
  command->add_option("STREAM", a.stream, "Command stream to simulate instead: .gws, or text as disasm writes it");
  add_report_options(*command, a.json, a.html, "the report (docs/report.md)");
  add_accelergy_option(*command, a.accelergy);
  add_times_options(*command, a.times, a.timeline);
  command->add_option("--jobs", a.jobs, "Threads that look for plans; default: one a core")
      ->check(whole_number(1U, 1024U));
  add_step_options(*command, a);
  command->add_flag("--quiet", a.quiet, "No progress on standard error");
  command->add_flag("--from-make", a.from_make)->group("");
  command->footer("Examples:\n"
                  "  gradweave simulate --model bert_tiny --npu small\n"
                  "  gradweave simulate --step --model net.onnx --npu large --batch 4\n"
                  "  gradweave simulate --model resnet50 --npu large --pass forward --batch 1 --json report.json\n"
                  "  gradweave simulate streams/0-embed.gws --npu small --times -");
  command->callback([arguments, larger = invocation.larger, &a, &chosen, command] {
    // Not excludes(): that would come before the complaint about an unknown option, whose value looks like a STREAM.
    for (const char *option : {"--model", "--batch", "--schedule", "--pass", "--layers"})
      if (!a.stream.empty() && command->count(option) != 0) throw CLI::ExcludesError(option, "STREAM");
    chosen = [arguments, larger](const SignalGuard &signals) { return simulate(*arguments, larger, signals); };
  });
}

} // namespace gradweave::cli
