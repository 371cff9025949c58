#include "app/cli/run/weave_report.hpp"

#include "app/report/text_format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::cli {
namespace {

using runtime::grouped;
using runtime::human;
using runtime::percent;
using runtime::ratio;
using runtime::WovenJob;
using runtime::WovenRequest;
using runtime::WovenRun;

double gain(std::uint64_t before, std::uint64_t now) {
  return 100 * (static_cast<double>(before) / static_cast<double>(now) - 1);
}

void print_jobs(std::FILE *out, const WovenRun &run) {
  std::size_t width = 3;
  for (const WovenJob &job : run.jobs)
    width = std::max(width, job.name.size());
  fmt::print(out, "{:{}} {:>6} {:>9} {:>13} {:>9} {:>13} {:>13}  of its speed alone\n", "job", width, "layers",
             "commands", "array", "DRAM", "alone", "finish");
  for (const WovenJob &job : run.jobs)
    fmt::print(out, "{:{}} {:>6} {:>9} {:>13} {:>8}B {:>13} {:>13}  {}\n", job.name, width, job.layers,
               grouped(job.commands), grouped(job.array_cycles), human(static_cast<double>(job.moved_bytes)),
               grouped(job.alone_cycles), grouped(job.finish_cycles), percent(job.progress()));
}

void print_totals(std::FILE *out, const WovenRequest &request, const WovenRun &run) {
  const compiler::Bounds &bounds = run.result.bounds;
  const auto line = [&](const std::string &what, std::uint64_t cycles) {
    fmt::print(out, "{:40} {:>13}  {}\n", what, grouped(cycles), ratio(cycles, bounds.run_cycles));
  };
  fmt::print(out, "\n{:40} {:>13}  of bound\n", "cycles of all jobs", "");
  line("one by one, each job alone", run.alone_cycles());
  line("one by one, in one stream", run.one_by_one_cycles);
  line(std::string(compiler::to_string(request.weave.policy)), run.cycles());
  fmt::print(out, "{:40} {:>13}  array steps {}, traffic {}\n", "bound", grouped(bounds.run_cycles),
             grouped(bounds.compute_cycles), grouped(bounds.traffic_cycles));
  fmt::print(out, "gain       {:+.1f} % over the better of one by one; the bound allows {:+.1f} %\n",
             gain(run.baseline_cycles(), run.cycles()), gain(run.baseline_cycles(), bounds.run_cycles));
  fmt::print(out, "service    STP {:.3f}, ANTT {:.3f}, fairness {:.3f}\n", run.stp(), run.antt(), run.fairness());
  fmt::print(out, "searched   {} orders; {} changes, {} kept: {} -> {} cycles\n", run.woven.orders,
             grouped(run.woven.changes), grouped(run.woven.improvements), grouped(run.woven.first_cycles),
             grouped(run.cycles()));
}

void print_checks(std::FILE *out, const WovenRequest &request, const WovenRun &run) {
  if (has_data(request.backend))
    for (const WovenJob &job : run.jobs)
      fmt::print(out, "checked    {}: {} elements of its results against the golden model, {} differ\n", job.name,
                 grouped(job.elements), grouped(job.mismatches));
  else
    fmt::print(out, "no data    the {} backend computes nothing: no bit was checked\n", to_string(request.backend));
  if (has_time(request.backend) && run.result.cycles() != 0)
    fmt::print(out, "cycles     {} on the {} backend; the compiler's timing model says {}\n",
               grouped(run.result.cycles()), to_string(request.backend), grouped(run.cycles()));
}

} // namespace

void print_woven(std::FILE *out, const WovenRequest &request, const WovenRun &run, const std::string &reproduce) {
  print_jobs(out, run);
  print_totals(out, request, run);
  print_checks(out, request, run);
  fmt::print(out, "reproduce  {}\n", reproduce);
  for (const std::string &failure : run.result.failures)
    fmt::print(out, "error      {}\n", failure);
  fmt::print(out, "{}\n", verdict(run.result.outcome));
  std::fflush(out);
}

} // namespace gradweave::cli
