// gradweave weave
#include "app/cli/common/options.hpp"
#include "app/cli/common/settings.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/common/work.hpp"
#include "app/cli/run/commands.hpp"
#include "app/cli/run/weave_report.hpp"
#include "app/report/plan_report.hpp"
#include "app/report/text_format.hpp"
#include "app/session/weave_session.hpp"
#include "base/file/output_file.hpp"
#include "base/process/process_pool.hpp"
#include "base/process/progress.hpp"
#include "runtime/job/job_timeline.hpp"
#include "runtime/run/lookup.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>

namespace gradweave::cli {
namespace {

struct WeaveArguments : WeaveRequest {
  std::string json, timeline;
  bool quiet = false;
};

using runtime::WovenRequest;
using runtime::WovenRun;

/// Draws the run: each command bears the name of its job.
void draw(OutputFile &output, const WeaveArguments &a, const WovenRequest &request, const compiler::Compiled &compiled,
          const std::vector<timing::CommandTimes> &times, std::uint64_t cycles) {
  runtime::JobSpec spec;
  spec.network = "weave";
  spec.layers = compiled.layers;
  spec.npu = request.npu;
  spec.backend = request.backend;
  spec.compile.schedule = compiler::Schedule(compiler::to_string(request.weave.policy));
  spec.timeline_file = a.timeline;
  runtime::timeline::write_job_timeline(output, spec, compiled, times, cycles);
}

int weave(const WeaveArguments &a, const SignalGuard &signals) {
  const bool to_stdout = uses_standard_output({{"--json", a.json}, {"--timeline", a.timeline}});
  const WovenRequest request = woven_request(a, load_machine(runtime::find_npu(a.npu), parse_settings(a.set).machine));
  if (!a.timeline.empty() && !runtime::has_time(request.backend))
    throw std::invalid_argument(
        fmt::format("--timeline: the {} backend has no time; use --backend rtl or timing", a.backend));
  if (request.backend == runtime::Backend::kRtl) require_rtl(request.npu, a.npu); // before the search, which takes long
  std::optional<OutputFile> json, timeline;
  if (!a.json.empty()) json.emplace(a.json);
  if (!a.timeline.empty()) timeline.emplace(a.timeline);
  std::FILE *out = to_stdout ? stderr : stdout;

  const Machine &npu = request.npu;
  fmt::print(out, "{} jobs on {}, {}: {}{} x {} PEs, {}B of scratchpad, {} GB/s, {} GHz\n\n", request.jobs.size(),
             npu.name, a.policy, runtime::cores(npu), npu.rows, npu.cols,
             runtime::human(static_cast<double>(npu.spm_bytes)), npu.memory.bandwidth_gb_s, npu.clock_ghz);
  std::fflush(out);
  ProgressDisplay display({1}, a.quiet);
  runtime::WovenEvents events;
  events.progress = [&](const std::string &, double done) {
    signals.check();
    display.update(0, done);
    display.tick();
  };
  if (timeline)
    events.times = [&](const compiler::Compiled &compiled, const std::vector<timing::CommandTimes> &times,
                       std::uint64_t cycles) { draw(*timeline, a, request, compiled, times, cycles); };
  const WovenRun run = runtime::run_woven(request, events);
  display.clear();
  const std::string repeat = reproduce(a);
  if (json)
    json->commit(
        woven_json(request, run, repeat).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  print_woven(out, request, run, repeat);
  return exit_code(run.result.outcome);
}

void add_search_options(CLI::App &command, WeaveArguments &a) {
  command.add_option("--plans", a.plans, "Plans to simulate for each layer, pass and order at least")
      ->check(whole_number(1U, 1U << 20U))
      ->capture_default_str();
  command.add_option("--changes", a.changes, "Changes of plans and order that --policy tiles tries")
      ->check(whole_number(0U, 1U << 30U))
      ->capture_default_str();
  command.add_option("--search-seed", a.search_seed, "Seed of these changes")
      ->check(check_whole_number)
      ->capture_default_str();
  command.add_option("--threads", a.threads, "Threads that look for plans; default: one a core")
      ->check(whole_number(1U, 1024U));
}

} // namespace

void add_weave(CLI::App &app, const Invocation &invocation, Chosen &chosen) {
  const auto arguments = std::make_shared<WeaveArguments>(); // as long as the parser
  WeaveArguments &a = *arguments;
  a.program = invocation.program;
  CLI::App *command = add_subcommand(app, "weave");
  command
      ->add_option(
          "--job", a.jobs,
          "A network as MODEL[,NAME=VALUE...]:BATCH:PASS[:COPIES]: its name or file, variables of it, samples, "
          "pass (" +
              compiler::pass_names() + "; both is a training step), and how many of it; once for each job")
      ->type_name("JOB")
      ->allow_extra_args(false)
      ->take_all()
      ->required();
  command->add_option("--npu", a.npu, "NPU: a name or the path of a .toml file")->capture_default_str();
  add_set_option(*command, a.set, Settable::kMachine);
  command
      ->add_option("--policy", a.policy,
                   "One of " + compiler::weave_policy_names() +
                       ": whole layers of the jobs in an order, or with tiles their tile products (docs/weaving.md)")
      ->capture_default_str();
  add_search_options(*command, a);
  add_convolution_option(*command, a.convolution);
  command
      ->add_option("--backend", a.backend,
                   "One of " + runtime::backend_names() +
                       ": the Verilated NPU, its cycles without data, or its results without time")
      ->capture_default_str();
  command->add_option("--data", a.data, "Data, one of " + runtime::data_kind_names())->capture_default_str();
  command->add_option("--seed", a.seed, "Seed of the data")->check(check_whole_number)->capture_default_str();
  command->add_option("--json", a.json, "Write all figures to this file; - is standard output");
  command->add_option("--timeline", a.timeline,
                      "Draw the run for ui.perfetto.dev (docs/timeline.md): each command bears its job's name");
  command->add_flag("--quiet", a.quiet, "No progress on standard error");
  command->footer(
      "Examples:\n"
      "  gradweave weave --job bert_tiny:4:both --job bert_tiny:1:forward:2 --npu small\n"
      "  gradweave weave --job bert_large,layers=2:8:forward --job bert_large,layers=4:1:forward --npu large\n"
      "  gradweave weave --job lenet:4:both --job mlp:8:forward --backend functional");
  command->callback([arguments, &chosen] {
    chosen = [arguments](const SignalGuard &signals) { return weave(*arguments, signals); };
  });
}

} // namespace gradweave::cli
