// gradweave serve
#include "app/cli/common/options.hpp"
#include "app/cli/common/settings.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/common/work.hpp"
#include "app/cli/run/commands.hpp"
#include "app/report/serve_report.hpp"
#include "app/request/arrivals.hpp"
#include "app/session/serve_session.hpp"
#include "base/file/output_file.hpp"
#include "base/process/process_pool.hpp"
#include "base/process/progress.hpp"
#include "runtime/run/lookup.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <optional>

namespace gradweave::cli {
namespace {

struct ServeArguments : ServeWords {
  std::string convolution = "image"; ///< what convolutions read; or im2col
  std::string json;
  bool quiet = false;
};

int serve(ServeArguments a, const SignalGuard &signals) {
  const bool to_stdout = uses_standard_output({{"--json", a.json}});
  a.images = a.convolution == "image";
  const runtime::ServeRequest request =
      serve_request(a, load_machine(runtime::find_npu(a.npu), parse_settings(a.set).machine));
  if (request.backend == runtime::Backend::kRtl) require_rtl(request.npu, a.npu); // before the search
  std::optional<OutputFile> json;
  if (!a.json.empty()) json.emplace(a.json);
  ProgressDisplay display({1}, a.quiet);
  const runtime::ServeRun run = runtime::run_served(request, [&](std::uint64_t done, std::uint64_t all) {
    signals.check();
    display.update(0, static_cast<double>(done) / static_cast<double>(all));
    display.tick();
  });
  display.clear();
  const std::string repeat = reproduce(a);
  if (json)
    json->commit(
        serve_json(request, run, repeat).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  print_served(to_stdout ? stderr : stdout, request, run, repeat);
  return exit_code(run.outcome);
}

void add_arrival_options(CLI::App &command, ServeArguments &a) {
  CLI::Option *file =
      command.add_option("--arrivals", a.arrivals,
                         "File with a line CYCLE,JOB for each request; JOB is a job's name or its number from 0");
  command.add_option("--requests", a.requests, "Requests to draw, each for any of the jobs alike")
      ->check(whole_number(std::uint64_t{1}, kMostRequests))
      ->excludes(file)
      ->capture_default_str();
  CLI::Option *load =
      command.add_option("--load", a.load, "Of the NPU, by the cycles that requests take alone: sets the gap")
          ->check(check_finite)
          ->check(CLI::Range(0.001, 1000.0))
          ->excludes(file)
          ->capture_default_str();
  command.add_option("--gap", a.gap, "Cycles from an arrival to the next in the mean (a Poisson process)")
      ->check(check_finite)
      ->check(CLI::Range(1.0, 1e12))
      ->excludes(file)
      ->excludes(load);
  command.add_option("--arrival-seed", a.arrival_seed, "Seed of the arrivals")
      ->check(check_whole_number)
      ->excludes(file)
      ->capture_default_str();
}

void add_order_options(CLI::App &command, ServeArguments &a) {
  command
      .add_option("--priority", a.priorities,
                  "Priorities of the jobs, in their order: larger goes first; default: all 0")
      ->check(check_whole_number)
      ->delimiter(',');
  command
      .add_option(
          "--deadline", a.deadlines,
          "Deadlines of the jobs, in cycles from a request's arrival; 0: none. Of one priority the earliest goes "
          "first")
      ->check(check_whole_number)
      ->delimiter(',');
  command
      .add_option("--patience", a.patience, "A request that was passed over so often goes next, whatever its priority")
      ->check(whole_number(1U, 1U << 30U))
      ->capture_default_str();
}

void add_run_options(CLI::App &command, ServeArguments &a) {
  command.add_option("--npu", a.npu, "NPU: a name or the path of a .toml file")->capture_default_str();
  add_set_option(command, a.set, Settable::kMachine);
  command.add_option("--schedule", a.schedule, "Schedule of each layer; one of " + compiler::schedule_names())
      ->capture_default_str();
  command.add_option("--plans", a.plans, "Plans to simulate for each layer and order")
      ->check(whole_number(1U, 1U << 20U))
      ->capture_default_str();
  add_convolution_option(command, a.convolution);
  command
      .add_option("--backend", a.backend,
                  "One of " + runtime::backend_names() +
                      ": the Verilated NPU, its cycles without data, or its results without time")
      ->capture_default_str();
  command.add_option("--data", a.data, "Data, one of " + runtime::data_kind_names())->capture_default_str();
  command.add_option("--seed", a.seed, "Seed of the data")->check(check_whole_number)->capture_default_str();
  command.add_option("--json", a.json, "Write all figures to this file; - is standard output");
  command.add_flag("--quiet", a.quiet, "No progress on standard error");
}

} // namespace

void add_serve(CLI::App &app, const Invocation &invocation, Chosen &chosen) {
  const auto arguments = std::make_shared<ServeArguments>(); // as long as the parser
  ServeArguments &a = *arguments;
  a.program = invocation.program;
  CLI::App *command = add_subcommand(app, "serve");
  command
      ->add_option(
          "--job", a.jobs,
          "A network that is asked for, as MODEL[,NAME=VALUE...]:BATCH:PASS: its name or file, variables of it, "
          "samples, pass (" +
              compiler::pass_names() + "); once for each")
      ->type_name("JOB")
      ->allow_extra_args(false)
      ->take_all()
      ->required();
  add_arrival_options(*command, a);
  add_order_options(*command, a);
  add_run_options(*command, a);
  command->footer(
      "Examples:\n"
      "  gradweave serve --job bert_tiny:1:forward --job lenet:4:forward --npu small --requests 1000\n"
      "  gradweave serve --job mlp:4:forward --job lenet:1:both --npu test8 --requests 20 --backend rtl\n"
      "  gradweave serve --job mlp:4:forward --job lenet:1:both --npu test8 --priority 1,0 --deadline 20000,0");
  command->callback([arguments, &chosen] {
    chosen = [arguments](const SignalGuard &signals) { return serve(*arguments, signals); };
  });
}

} // namespace gradweave::cli
