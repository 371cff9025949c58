#include "app/report/text_report.hpp"

#include "app/report/plan_report.hpp"
#include "app/report/summary.hpp"
#include "app/report/text_format.hpp"
#include "compiler/ir/contraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace gradweave::runtime {
namespace {

using compiler::Pass;
using compiler::Tensor;
using compiler::Traffic;

const Traffic &of(const compiler::LayerTraffic &traffic, Tensor tensor) {
  return traffic[static_cast<std::size_t>(tensor)];
}

/// Partial sums moved, by result tensor: "dX 1.2M+0.9M" is written and read.
std::string spills(const compiler::LayerTraffic &traffic) {
  std::string text;
  for (const Tensor tensor : compiler::result_tensors()) {
    const Traffic &t = of(traffic, tensor);
    if (t.spill_read_bytes + t.spill_write_bytes == 0) continue;
    text +=
        fmt::format("{}{} {}+{}", text.empty() ? "" : ", ", compiler::to_string(tensor),
                    human(static_cast<double>(t.spill_write_bytes)), human(static_cast<double>(t.spill_read_bytes)));
  }
  return text.empty() ? "-" : text;
}

/// "1,024 elements of dX (99.0% finite), 12 elements of dW"; empty: none.
std::string checked_elements(const Totals &all) {
  std::string checked;
  for (const Tensor tensor : compiler::result_tensors()) {
    const auto i = static_cast<std::size_t>(tensor);
    if (all.checked[i] == 0) continue;
    checked += fmt::format("{}{} elements of {}", checked.empty() ? "" : ", ", grouped(all.checked[i]),
                           compiler::to_string(tensor));
    if (all.finite[i] != all.checked[i])
      checked += fmt::format(" ({:.1f}% finite)",
                             100.0 * static_cast<double>(all.finite[i]) / static_cast<double>(all.checked[i]));
  }
  return checked;
}

/// What of the network a run does not look at, each with "; " behind it.
std::string left_out(const RunOptions &options) {
  std::string left;
  if (options.backend == Backend::kFunctional) left += "the RTL; cycles (the functional model has no time); ";
  if (options.backend == Backend::kTiming) left += "the RTL; all results (the timing model has no data); ";
  if (options.layers.size() != options.network.layers.size())
    left += fmt::format("{} other layers; ", options.network.layers.size() - options.layers.size());
  if (options.compile.pass == Pass::kBackward) left += "the forward products Y; ";
  if (options.compile.pass == Pass::kForward) left += "the gradients dX and dW; ";
  if (options.compile.pass == Pass::kForward) return left;
  const auto without = std::count_if(options.layers.begin(), options.layers.end(), [](const auto &l) { return !l.dx; });
  if (without != 0)
    left +=
        fmt::format("dX of {} layer{} that need{} none; ", without, without == 1 ? "" : "s", without == 1 ? "s" : "");
  return left;
}

} // namespace

void TextReport::begin() {
  const Machine &npu = options_.config;
  const std::string data = has_data(options_.backend)
                               ? fmt::format("{} data, seed {}", to_string(options_.data), options_.seed)
                               : std::string("no data");
  fmt::print(out_, "{}: {} of {} layers, {} pass, {}\n", options_.network.name, options_.layers.size(),
             options_.network.layers.size(), compiler::to_string(options_.compile.pass), data);
  fmt::print(out_, "{}: {}{} x {} PEs, {} of scratchpad, {} GB/s, {} GHz; backend {}, {} jobs in parallel\n", npu.name,
             cores(npu), npu.rows, npu.cols, human(static_cast<double>(npu.spm_bytes)) + "B", npu.memory.bandwidth_gb_s,
             npu.clock_ghz, to_string(options_.backend), options_.jobs);
  print_convolutions(out_, options_.layers);
  print_not_counted(out_, options_.network);
  fmt::print(out_, "\n");
  name_width_ = 5;
  shape_width_ = 9;
  for (const compiler::Layer &layer : options_.layers) {
    name_width_ = std::max(name_width_, layer.name.size());
    shape_width_ = std::max(shape_width_, shape(layer).size());
  }
  std::string head = fmt::format("{:>3} {:<{}} {:<{}} {:<20} {:>12} {:>6} {:>7}", "#", "layer", name_width_,
                                 "M x K x N", shape_width_, "schedule", "cycles", "array", "tensors");
  for (const Tensor tensor : compiler::operand_tensors())
    if (compiler::used_in(tensor, options_.compile.pass))
      head += fmt::format(" {:>6}", std::string(compiler::to_string(tensor)) + " rd");
  for (const Tensor tensor : compiler::result_tensors())
    if (compiler::used_in(tensor, options_.compile.pass))
      head += fmt::format(" {:>6}", std::string(compiler::to_string(tensor)) + " wr");
  if (options_.compares()) head += fmt::format(" {:>7} {:>7}", "cycles*", "bytes*");
  head += fmt::format(" {:<5} spills (wr+rd)", "check");
  fmt::print(out_, "{}\n", head);
  std::fflush(out_);
}

void TextReport::row(const JobResult &job, const JobResult &base) {
  std::string line = fmt::format(
      "{:>3} {:<{}} {:<{}} {:<20} {:>12} {:>6} {:>7}", job.layer().index, job.layer().name, name_width_,
      shape(job.layer()), shape_width_, schedule_name(job), job.cycles() == 0 ? "-" : grouped(job.cycles()),
      bound_share(job.bounds.compute_cycles, job.cycles()), bound_share(job.bounds.traffic_cycles, job.cycles()));
  for (const Tensor tensor : compiler::operand_tensors())
    if (compiler::used_in(tensor, options_.compile.pass))
      line += fmt::format(" {:>6}", human(static_cast<double>(of(job.traffic.front(), tensor).read_bytes)));
  for (const Tensor tensor : compiler::result_tensors()) {
    if (!compiler::used_in(tensor, options_.compile.pass)) continue;
    const Traffic &t = of(job.traffic.front(), tensor);
    const bool computed = t.write_bytes != 0;
    line += fmt::format(" {:>6}", computed ? human(static_cast<double>(t.write_bytes - t.spill_write_bytes)) : "-");
  }
  if (options_.compares())
    line += fmt::format(" {:>7} {:>7}", ratio(job.cycles(), base.cycles()),
                        ratio(sum_job(job).dram_bytes(), sum_job(base).dram_bytes()));
  const std::string_view good = has_data(options_.backend) ? "ok" : "-";
  line += fmt::format(" {:<5} {}", job.outcome == Outcome::kPass ? good : verdict(job.outcome),
                      spills(job.traffic.front()));
  fmt::print(out_, "{}\n", line);
}

void TextReport::layer(const std::vector<JobResult> &by_schedule) {
  for (const JobResult &job : by_schedule)
    row(job, by_schedule.front());
  std::fflush(out_);
}

void TextReport::totals(const RunResult &run) {
  const Totals base = sum_layers(run, 0);
  fmt::print(out_, "\ntotal of {} layers\n", run.layers.size());
  for (std::size_t s = 0; s < options_.schedules.size(); ++s) {
    const Totals t = sum_layers(run, s);
    std::string line = fmt::format("  {:<10}", compiler::to_string(options_.schedules[s]));
    if (t.cycles != 0)
      line += fmt::format("  {} cycles = {:.3f} ms at {} GHz = {} x bound, array {}", grouped(t.cycles),
                          static_cast<double>(t.cycles) / (options_.config.clock_ghz * 1e6), options_.config.clock_ghz,
                          ratio(t.cycles, t.bound), percent(utilisation(t.macs, t.cycles, options_.config)));
    line += fmt::format("  DRAM {}B read, {}B written, {}B of both spilled partial sums",
                        human(static_cast<double>(t.dram_read_bytes)), human(static_cast<double>(t.dram_write_bytes)),
                        human(static_cast<double>(t.spill_bytes)));
    if (options_.compares())
      line += fmt::format("; against {}: cycles {}, bytes {}", compiler::to_string(options_.schedules[0]),
                          ratio(t.cycles, base.cycles), ratio(t.dram_bytes(), base.dram_bytes()));
    fmt::print(out_, "{}\n", line);
  }
  if (options_.compares())
    fmt::print(out_, "  * against {} of the same layer\n", compiler::to_string(options_.schedules[0]));
}

void TextReport::speed(const RunResult &run) {
  const Totals all = sum_all(run);
  if (run.wall_seconds <= 0 || all.cpu_seconds <= 0) return;
  if (run.kept != 0) { // the seconds are of this run alone
    fmt::print(out_, "speed      {:.1f} s; no rates, as an interrupted run did part of the work\n", run.wall_seconds);
    return;
  }
  const auto macs = static_cast<double>(all.macs);
  const auto cycles = static_cast<double>(all.cycles);
  fmt::print(out_, "speed      {:.1f} s in all: {} MAC/s", run.wall_seconds, human(macs / run.wall_seconds));
  if (all.cycles != 0) fmt::print(out_, ", {} cycles/s", human(cycles / run.wall_seconds));
  fmt::print(out_, "; a simulation process alone: {} MAC/s", human(macs / all.cpu_seconds));
  if (all.cycles != 0) fmt::print(out_, ", {} cycles/s", human(cycles / all.cpu_seconds));
  fmt::print(out_, " of CPU time\n");
}

void TextReport::coverage(const RunResult &run) {
  const Totals all = sum_all(run);
  if (has_data(options_.backend)) {
    const std::string checked = checked_elements(all);
    fmt::print(out_, "checked    {}: every bit against the golden model", checked.empty() ? "nothing" : checked);
    if (options_.compares()) fmt::print(out_, "; results of all schedules against each other");
    if (all.direct != 0)
      fmt::print(out_, "\n           convolutions: {} elements, dX as the image's gradient, against direct convolution",
                 grouped(all.direct));
  } else {
    fmt::print(out_, "checked    no data, there are none");
  }
  fmt::print(out_, "\n           counters: DRAM bytes and blocks against the compiler's plan{}\n",
             has_time(options_.backend) ? ", beats, array steps, cycles of each engine add up" : "");
  fmt::print(out_,
             "unchecked  {}whatever is no product with weights: attention scores, softmax, activations, "
             "normalisation, optimizer\n",
             left_out(options_));
}

void TextReport::resumed(const RunResult &run) {
  if (run.kept == 0) return;
  std::set<std::string> when;
  for (const auto &by_schedule : run.layers)
    for (const JobResult &job : by_schedule)
      if (!job.kept_since.empty()) when.insert(job.kept_since);
  if (when.empty()) return;
  fmt::print(out_,
             "resumed    {} of {} jobs are of an interrupted run with the same programs, which checked them between\n"
             "           {} and {}: not simulated again\n",
             run.kept, options_.layers.size() * options_.schedules.size(), *when.begin(), *when.rbegin());
}

void TextReport::end(const RunResult &run) {
  if (run.layers.size() == options_.layers.size()) {
    totals(run);
    print_energies(out_, options_, run);
    print_plans(out_, options_, run);
    speed(run);
    coverage(run);
  }
  resumed(run);
  if (!options_.trace.file.empty()) fmt::print(out_, "trace      {}\n", options_.trace.file);
  if (!options_.trace_dir.empty()) fmt::print(out_, "traces     {}\n", options_.trace_dir);
  print_end(out_, options_, run);
}

} // namespace gradweave::runtime
