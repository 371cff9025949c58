// gradweave search
#include "app/cli/common/options.hpp"
#include "app/cli/common/report_files.hpp"
#include "app/cli/common/settings.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/common/work.hpp"
#include "app/cli/plan/commands.hpp"
#include "app/report/energy/energy_report.hpp"
#include "app/report/page/search_page.hpp"
#include "app/report/plan_report.hpp"
#include "app/report/text_format.hpp"
#include "app/session/search_session.hpp"
#include "base/file/output_file.hpp"
#include "base/process/process_pool.hpp"
#include "base/process/progress.hpp"
#include "runtime/job/job.hpp"
#include "runtime/record/result_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

namespace gradweave::cli {
namespace {

struct SearchArguments : SearchRequest {
  std::string json, html;
  bool quiet = false;
};

using Json = nlohmann::ordered_json;
using evaluation::LayerSearch;
using evaluation::NetworkSearch;
using runtime::grouped;
using runtime::ratio;

void print_layers(std::FILE *out, const NetworkSearch &s) {
  std::size_t width = 5;
  for (const LayerSearch &l : s.layers)
    width = std::max(width, l.layer.name.size());
  fmt::print(out, "  # {:{}} {:>20} {:>14} {:>14} {:>14} {:>14}  of bound  order\n", "layer", width, "M x K x N",
             "bound", "paper", "conventional", "searched");
  for (const LayerSearch &l : s.layers)
    fmt::print(out, "{:3} {:{}} {:>20} {:>14} {:>14} {:>14} {:>14}  {:>8}  {}\n", l.layer.index, l.layer.name, width,
               runtime::shape(l.layer), l.bound == 0 ? "-" : grouped(l.bound), grouped(l.paper),
               grouped(l.conventional), grouped(l.searched), ratio(l.searched, l.bound), l.order);
}

/// The whole step against what bounds it, and its energy.
void print_step(std::FILE *out, const NetworkSearch &s, const Machine &npu) {
  const compiler::Bounds &b = s.step.bounds;
  fmt::print(out, "bound of the step: {} cycles, of its {}; array steps {}, traffic {} (step = {} x bound)\n",
             grouped(b.run_cycles), b.compute_cycles >= b.traffic_cycles ? "multiply-adds" : "memory traffic",
             grouped(b.compute_cycles), grouped(b.traffic_cycles), ratio(s.step.predicted_cycles, b.run_cycles));
  fmt::print(out, "{}", report::energy_table({{"step", s.step.accesses, s.step.predicted_cycles}}, npu));
  if (s.found.objective != compiler::Objective::kCycles) return;
  const bool groups = std::any_of(s.layers.begin(), s.layers.end(), [](const auto &l) { return l.layer.groups > 1; });
  fmt::print(
      out, "layer by layer, searched plans are {:.1f} % above their bounds on average{}\n", 100 * s.mean_above_bound(),
      groups ? ", layers of several groups left out: theirs assume one group a command, or count the unit's lanes alone"
             : "");
}

void print_totals(std::FILE *out, const NetworkSearch &s, const Machine &npu) {
  const std::uint64_t paper = s.sum(&LayerSearch::paper), conventional = s.sum(&LayerSearch::conventional);
  const std::uint64_t searched = s.sum(&LayerSearch::searched);
  const bool adds_up = s.found.objective != compiler::Objective::kEdp; // products of sums are no sums of products
  const auto less = [](std::uint64_t value, std::uint64_t than) {
    return fmt::format("{:+.1f} %", 100 * (static_cast<double>(value) / static_cast<double>(than) - 1));
  };
  const std::string_view unit = compiler::unit_of(s.found.objective);
  fmt::print(out, "\n{:56} {:>14} {:>10} {:>13}\n", fmt::format("{}, all layers", unit), "", "to paper",
             "to conventional");
  const auto line = [&](const char *what, std::uint64_t cost, bool comparable = true) {
    fmt::print(out, "{:56} {:>14} {:>10} {:>13}\n", what, grouped(cost), comparable ? less(cost, paper) : "-",
               comparable ? less(cost, conventional) : "-");
  };
  line("paper         its scheme on its own tiling, layer by layer", paper);
  line("conventional  best sequential plans, layer by layer", conventional);
  line("searched      best plans, layer by layer", searched);
  line("step          all layers in one stream", s.step_cost, adds_up);
  if (!adds_up)
    fmt::print(out, "  of layers by themselves the sum, to which the step's energy times its time does not compare\n");
  fmt::print(out, "bytes         of elements that are loaded and stored: {} layer by layer, {} in one stream\n",
             grouped(s.found.apart_bytes), grouped(step_bytes(s)));
  print_step(out, s, npu);
  fmt::print(out, "search of the step: from {} sets of plans, {} changes simulated, {} kept, {} -> {} {}\n",
             s.found.starts, grouped(s.found.simulated), grouped(s.found.improvements), grouped(s.found.first_cost),
             grouped(s.found.cost), unit);
  const auto effort = [&](const char *what, const compiler::SearchWork &w) {
    fmt::print(out, "effort     {:13} {} plans tried, {} simulated, {:.1f} million bursts, {:.1f} s\n", what,
               grouped(w.tried), grouped(w.simulated), static_cast<double>(w.bursts) / 1e6, w.seconds);
  };
  effort("conventional", s.found.conventional_work);
  effort("step", s.found.work);
}

/// Runs the step with data.
runtime::JobResult check(const SearchArguments &a, const Work &work, const NetworkSearch &s, std::FILE *out) {
  const runtime::JobSpec spec = step_job(a, work, s);
  ProgressDisplay display({1}, a.quiet);
  runtime::JobEvents events;
  events.progress = [&](std::uint64_t done, std::uint64_t of) {
    display.update(0, static_cast<double>(done) / static_cast<double>(of));
    display.tick();
  };
  runtime::JobResult result = runtime::run_job(spec, s.step, events);
  display.clear();
  fmt::print(out, "checked    on {}: {} elements of all results, {} differ", a.backend, grouped(result.elements()),
             grouped(result.mismatches()));
  if (runtime::has_time(spec.backend) && result.cycles() != 0)
    fmt::print(out, "; {} cycles, as the timing model says", grouped(result.cycles()));
  fmt::print(out, "\n");
  std::fflush(out);
  for (const std::string &failure : result.failures)
    fmt::print(stderr, "error: {}\n", failure);
  return result;
}

int search(const SearchArguments &a, const SignalGuard &signals) {
  const Work work = in_one_stream(resolve(a.work));
  const bool on_rtl = !a.backend.empty() && runtime::parse_backend(a.backend) == runtime::Backend::kRtl;
  check_search(a);
  if (on_rtl) require_rtl(work.npu, a.work.npu); // before the search, which takes long
  ReportFiles files(a.json, a.html);
  std::FILE *out = uses_standard_output({{"--json", a.json}, {"--html", a.html}}) ? stderr : stdout;

  fmt::print(out, "{}: {} of {} layers, {}, on {}\n", work.network.name, work.layers.size(), work.network.layers.size(),
             compiler::to_string(work.compile.pass), work.npu.name);
  runtime::print_convolutions(out, work.layers);
  fmt::print(out, "\n");
  std::fflush(out);
  ProgressDisplay display({1}, a.quiet);
  const NetworkSearch found = search_network(a, work, [&](std::uint64_t done, std::uint64_t of) {
    signals.check();
    display.update(0, static_cast<double>(done) / static_cast<double>(of));
    display.tick();
  });
  display.clear();
  print_layers(out, found);
  print_totals(out, found, work.npu);
  Json report = search_json(a, work, found);
  ExitCode code = kOk;
  if (!a.backend.empty()) {
    const runtime::JobResult checked = check(a, work, found, out);
    report["check"] = to_json(checked);
    code = exit_code(checked.outcome);
  }
  if (files.asked()) files.commit(report, report::search_page);
  return code;
}

} // namespace

void add_search(CLI::App &app, const Invocation &invocation, Chosen &chosen) {
  const auto arguments = std::make_shared<SearchArguments>(); // as long as the parser
  SearchArguments &a = *arguments;
  a.program = invocation.program;
  CLI::App *command = add_subcommand(app, "search");
  a.work.pass = "both";
  command
      ->add_option("--model", a.work.model,
                   "Network: a name (gradweave models) or the path of a .graph, .onnx, .toml or .csv file")
      ->capture_default_str();
  add_until_option(*command, a.work.until);
  add_set_option(*command, a.work.set, Settable::kMachineAndNetwork);
  add_batch_option(*command, a.work.batch);
  command->add_option("--npu", a.work.npu, "NPU: a name or the path of a .toml file")->capture_default_str();
  command->add_option("--pass", a.work.pass, help_of_pass() + "; both is a training step")->capture_default_str();
  add_convolution_option(*command, a.work.convolution);
  command->add_option("--layers", a.work.layers, "Names, numbers from 0 and ranges, as in 0,3-5,ffn1; default: all");
  command->add_option("--plans", a.plans, "Plans to simulate for each layer, pass and order")
      ->check(whole_number(1U, 1U << 30U))
      ->capture_default_str();
  command->add_option("--step-plans", a.step_plans, "Changes of the whole step to simulate")
      ->check(check_whole_number)
      ->capture_default_str();
  command
      ->add_option("--start", a.start,
                   "What the search of the step begins with: reuse tries layer by layer what each takes over from the "
                   "one before; placement keeps what the memory model would keep, and spends less on weaving")
      ->check(CLI::IsMember({"reuse", "placement"}))
      ->capture_default_str();
  command->add_flag("--weave-again", a.weave_again,
                    "At last weave the fastest step once more, also with plans of layers that move less: up to 1.3 % "
                    "fewer cycles for up to twice the work");
  command
      ->add_option_function<std::string>(
          "--objective",
          [&a](const std::string &name) {
            try {
              a.objective = compiler::parse_objective(name);
            } catch (const std::invalid_argument &error) {
              throw CLI::ValidationError("--objective", error.what());
            }
          },
          "What is minimised, one of " + compiler::objective_names() +
              "; edp is energy times cycles. Energies are those of the NPU's table [energy] (docs/energy.md)")
      ->default_str("cycles");
  command->add_option("--check", a.backend,
                      "Run the step on one of " + runtime::backend_names() +
                          ", with data and every bit checked; timing: cycles only");
  command->add_option("--data", a.data, "Data of the check, one of " + runtime::data_kind_names())
      ->capture_default_str();
  command->add_option("--seed", a.seed, "Seed of the data")->check(check_whole_number)->capture_default_str();
  add_report_options(*command, a.json, a.html, "all figures");
  command->add_flag("--quiet", a.quiet, "No progress on standard error");
  command->footer("Examples:\n"
                  "  gradweave search --model bert_tiny --npu small\n"
                  "  gradweave search --model mlp --npu small --step-plans 5000 --check rtl");
  command->callback([arguments, &chosen] {
    chosen = [arguments](const SignalGuard &signals) { return search(*arguments, signals); };
  });
}

} // namespace gradweave::cli
