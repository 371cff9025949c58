// gradweave cosim
#include "app/cli/common/options.hpp"
#include "app/cli/common/report_files.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/common/work.hpp"
#include "app/cli/run/commands.hpp"
#include "app/cli/run/cosim_arguments.hpp"
#include "app/cli/run/long_run.hpp"
#include "app/cli/run/step_options.hpp"
#include "app/report/energy/accelergy.hpp"
#include "app/report/json_report.hpp"
#include "app/report/plan_report.hpp"
#include "app/report/text_report.hpp"
#include "base/file/output_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace gradweave::cli {
namespace {

using runtime::RunOptions;
using runtime::RunResult;

int cosim(const CosimArguments &a, const LargerParts &larger, SignalGuard &signals) {
  if (a.status) return show_runs(*a.status);
  if (!a.stop.empty()) return stop(a.stop);
  if (a.step) return larger.cosim_step(a, signals);
  require_no_step_options(a);
  RunOptions options = cosim_options(a, resolve(a.work));
  const std::unique_ptr<compiler::PlanStore> plans = plan_store(a.work);
  options.plans = plans.get();
  options.sketch = !a.html.empty() && has_time(options.backend);
  const bool to_stdout =
      uses_standard_output({{"--json", a.json}, {"--html", a.html}, {"--times", a.times}, {"--timeline", a.timeline}});
  ReportFiles files(a.json, a.html);
  std::optional<report::AccelergyFiles> accelergy;
  if (!a.accelergy.empty()) accelergy.emplace(a.accelergy, options.schedules.size());
  if (a.dry_run) return kOk;
  if (options.backend == runtime::Backend::kRtl) require_rtl(options.config, a.work.npu);
  const RunPlan plan = plan_run(a, options);
  if (!plan.running.empty()) {
    fmt::print("this run goes on already:\n");
    show_runs(plan.running);
    return kOk;
  }
  if (plan.background) {
    files.abandon(); // the process that goes on opens them anew
    accelergy.reset();
    if (!continue_in_background(plan, a.program, signals)) return kOk;
    files = ReportFiles(a.json, a.html);
    if (!a.accelergy.empty()) accelergy.emplace(a.accelergy, options.schedules.size());
  }
  if (plan.record) plan.record->begin(plan.background, options.layers.size() * options.schedules.size());

  runtime::TextReport report(options, to_stdout ? stderr : stdout);
  report.begin();
  const RunResult result =
      run_all(options, plan.support, signals,
              [&](const std::vector<runtime::JobResult> &by_schedule) { report.layer(by_schedule); });
  if (files.asked()) files.commit(report_json(options, result), larger.run_page);
  if (accelergy) commit_accelergy(*accelergy, options, result);
  report.end(result);
  return exit_code(result.outcome);
}

/// What is simulated, on which data.
void add_simulation_options(CLI::App &command, CosimArguments &a) {
  command
      .add_option("--backend", a.backend,
                  "One of " + runtime::backend_names() +
                      ": the Verilated NPU, its cycles without data, or its results without time")
      ->capture_default_str();
  command
      .add_option("--data", a.data,
                  "One of " + runtime::data_kind_names() +
                      "; special has zeros, subnormals, cancellation, overflow, infinities, NaN")
      ->capture_default_str();
  command.add_option("--seed", a.seed, "Seed of the data")->check(check_whole_number)->capture_default_str();
  command
      .add_option("--stall-probability", a.stall_probability,
                  "Chance per bus channel and cycle of a held-back handshake")
      ->check(check_finite)
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  command.add_option("--stress-seed", a.stress_seed, "Seed of those stalls")
      ->check(check_whole_number)
      ->capture_default_str();
}

void add_trace_options(CLI::App &command, CosimArguments &a) {
  command
      .add_option_function<std::string>(
          "--trace", [&a](const std::string &) { a.trace = true; },
          "Write a waveform for every layer; the format is fst")
      ->check(CLI::IsMember({"fst"}));
  command.add_option("--trace-file", a.trace_file, "Waveform file; only for one layer and schedule");
  command.add_option("--trace-dir", a.trace_dir, "Directory of the waveforms otherwise")->capture_default_str();
  command.add_option("--trace-from", a.trace_from, "First cycle in the waveform")
      ->check(check_whole_number)
      ->capture_default_str();
  command.add_option("--trace-to", a.trace_to, "Last cycle in the waveform; default: the end")
      ->check(check_whole_number);
}

/// How the simulations are run, now or in the background.
void add_running_options(CLI::App &command, CosimArguments &a) {
  command.add_option("--jobs", a.jobs, "Simulations at a time; default: one a core")->check(whole_number(1U, 4096U));
  add_step_options(command, a);
  command.add_flag("--quiet", a.quiet, "No progress on standard error");
  command.add_flag("--dry-run", a.dry_run, "Check arguments, files and outputs, run nothing");
  command
      .add_option("--resume", a.resume,
                  "Record finished jobs and go on from those of an interrupted run: auto (runs of over a minute), "
                  "always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  command.add_flag("--fresh", a.fresh, "Run what an interrupted run has finished again");
  command
      .add_option_function<std::string>(
          "--background", [&a](const std::string &when) { a.background = when; },
          "Return at once and run in the background: yes, no, or auto (runs of over 10 minutes); yes if left out")
      ->expected(0, 1)
      ->default_str("yes")
      ->check(CLI::IsMember({"yes", "no", "auto"}));
  command
      .add_option_function<std::string>(
          "--status", [&a](const std::string &id) { a.status = id; }, "Tell how far recorded runs are: one, or all")
      ->expected(0, 1)
      ->default_str("");
  command.add_option("--stop", a.stop, "End a run in the background; the same command goes on later");
}

constexpr const char *kCosimFooter =
    "Examples:\n"
    "  gradweave cosim --model bert_tiny --npu small\n"
    "  gradweave cosim --model bert_tiny --schedule all --json report.json\n"
    "  gradweave cosim --model my_layers.csv --layers 0-2 --data special --seed 7\n"
    "  gradweave cosim --model bert_tiny --layers 0 --trace fst --trace-file l0.fst --trace-to 20000\n"
    "  gradweave cosim --model resnet50 --batch 4 --background\n"
    "  gradweave cosim --step --model net.onnx --input batch.npz --dump gradients --dump-to step.npz\n"
    "Exit codes: 0 all bits equal (or started in the background), 1 a bit or counter is wrong, 2 usage,\n"
    "3 bad input file, 4 NPU error or no simulation, 5 output cannot be written, 6 --status: a run has\n"
    "not ended, 128 + signal interrupted";

} // namespace

void add_cosim(CLI::App &app, const Invocation &invocation, Chosen &chosen) {
  const auto arguments = std::make_shared<CosimArguments>(); // as long as the parser
  CosimArguments &a = *arguments;
  a.program = invocation.program;
  CLI::App *command = add_subcommand(app, "cosim");
  add_work_options(*command, a.work, Schedules::kSeveral);
  add_plan_cache_option(*command, a.work);
  add_simulation_options(*command, a);
  add_report_options(*command, a.json, a.html, "the report (docs/report.md)");
  add_trace_options(*command, a);
  add_accelergy_option(*command, a.accelergy);
  add_times_options(*command, a.times, a.timeline);
  add_running_options(*command, a);
  command->add_flag("--from-make", a.from_make)
      ->group(""); // `make cosim` asks for its own form of the command to repeat
  command->footer(kCosimFooter);
  command->callback([arguments, larger = invocation.larger, &chosen] {
    chosen = [arguments, larger](SignalGuard &signals) { return cosim(*arguments, larger, signals); };
  });
}

} // namespace gradweave::cli
