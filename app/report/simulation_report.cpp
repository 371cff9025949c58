#include "app/report/simulation_report.hpp"

#include "app/report/plan_report.hpp"
#include "app/report/text_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace gradweave::runtime {
namespace {

using isa::Counter;

/// The engines' counters in the table; what is missing to 100 % is an engine with nothing to do.
struct Group {
  std::string_view head;
  std::vector<Counter> counters;
};

const std::array<Group, 3> &groups() {
  static const std::array<Group, 3> all{{{"array",
                                          {Counter::COMPUTE_ACTIVE, Counter::COMPUTE_BANK, Counter::COMPUTE_SHADOW,
                                           Counter::COMPUTE_DRAIN, Counter::COMPUTE_SEM, Counter::COMPUTE_EMPTY}},
                                         {"load", {Counter::LOAD_ACTIVE, Counter::LOAD_DRAM, Counter::LOAD_SEM}},
                                         {"store", {Counter::STORE_ACTIVE, Counter::STORE_DRAM, Counter::STORE_SEM}}}};
  return all;
}

/// COMPUTE_BANK is "bank".
std::string column_name(Counter counter) {
  std::string name(isa::kCounters[static_cast<std::size_t>(counter)].name);
  name.erase(0, name.find('_') + 1);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string share(std::uint64_t part, std::uint64_t cycles) {
  return cycles == 0 ? "-" : fmt::format("{:.1f}", 100 * static_cast<double>(part) / static_cast<double>(cycles));
}

} // namespace

SimulationReport::SimulationReport(const RunOptions &options, std::FILE *out) : options_(options), out_(out) {
  for (const compiler::Layer &layer : options_.layers) {
    name_width_ = std::max(name_width_, layer.name.size() + 4);
    shape_width_ = std::max(shape_width_, shape(layer).size());
  }
}

void SimulationReport::begin() {
  const Machine &npu = options_.config;
  if (options_.stream.empty())
    fmt::print(out_, "{}: {} of {} layers, {} pass\n", options_.network.name, options_.layers.size(),
               options_.network.layers.size(), compiler::to_string(options_.compile.pass));
  else
    fmt::print(out_, "stream {}\n", options_.stream);
  fmt::print(out_, "{}: {}{} x {} PEs, {}B of scratchpad, {} GB/s, {} GHz; timing model, no data\n", npu.name,
             cores(npu), npu.rows, npu.cols, human(static_cast<double>(npu.spm_bytes)), npu.memory.bandwidth_gb_s,
             npu.clock_ghz);
  print_convolutions(out_, options_.layers);
  print_not_counted(out_, options_.network);
  fmt::print(out_, "\n");

  std::string above = fmt::format("{:{}}", "", name_width_ + shape_width_ + 69 + (options_.compares() ? 8 : 0));
  std::string head =
      fmt::format("{:<{}} {:<{}} {:<20} {:>9} {:>13} {:>6} {:>7} {:>6}", "  # layer", name_width_, "M x K x N",
                  shape_width_, "schedule", "commands", "cycles", "array", "tensors", "DRAM");
  if (options_.compares()) head += fmt::format(" {:>7}", "cycles*");
  for (const Group &group : groups()) {
    above += fmt::format("  {:<{}}", fmt::format("{}, % of cycles", group.head), 7 * group.counters.size());
    head += " ";
    for (const Counter counter : group.counters)
      head += fmt::format(" {:>6}", column_name(counter));
    above += " ";
  }
  above.erase(above.find_last_not_of(' ') + 1);
  fmt::print(out_, "{}\n{}\n", above, head);
  std::fflush(out_);
}

void SimulationReport::row(const std::string &name, const std::string &shape, const std::string &schedule,
                           const Totals &work, const Totals &base) {
  std::string line = fmt::format("{:<{}} {:<{}} {:<20} {:>9} {:>13} {:>6} {:>7} {:>6}", name, name_width_, shape,
                                 shape_width_, schedule, grouped(work.commands), grouped(work.cycles),
                                 percent(utilisation(work.macs, work.cycles, options_.config)),
                                 bound_share(work.traffic_bound, work.cycles),
                                 percent(dram_utilisation(work.accesses, work.cycles, options_.config)));
  if (options_.compares()) line += fmt::format(" {:>7}", ratio(work.cycles, base.cycles));
  for (const Group &group : groups()) {
    line += " ";
    for (const Counter counter : group.counters)
      line += fmt::format(" {:>6}", share(work.counters[counter], work.cycles));
  }
  fmt::print(out_, "{}\n", line);
}

void SimulationReport::layer(const std::vector<JobResult> &by_schedule) {
  for (const JobResult &job : by_schedule) {
    const bool stream = !options_.stream.empty();
    row(fmt::format("{:>3} {}", job.layer().index, job.layer().name), stream ? "-" : shape(job.layer()),
        stream ? "-" : schedule_name(job), sum_job(job), sum_job(by_schedule.front()));
  }
  std::fflush(out_);
}

void SimulationReport::speed(const RunResult &run) {
  const Totals all = sum_all(run);
  if (options_.stream.empty()) fmt::print(out_, "compiled   in {:.3f} s\n", all.compile_seconds);
  fmt::print(out_, "simulated  in {:.6f} s of CPU time: {} cycles, {} commands", all.cpu_seconds, grouped(all.cycles),
             grouped(all.commands));
  if (all.cpu_seconds > 0 && all.commands != 0)
    fmt::print(out_, "; {} cycles/s, {:.0f} ns a command", human(static_cast<double>(all.cycles) / all.cpu_seconds),
               1e9 * all.cpu_seconds / static_cast<double>(all.commands));
  fmt::print(out_, "\nmemory     {}B at most\n", human(static_cast<double>(run.peak_memory_bytes)));
}

void SimulationReport::end(const RunResult &run) {
  if (options_.layers.size() > 1 && run.layers.size() == options_.layers.size())
    for (std::size_t s = 0; s < options_.schedules.size(); ++s)
      row("    total", fmt::format("{} layers", run.layers.size()),
          std::string(compiler::to_string(options_.schedules[s])), sum_layers(run, s), sum_layers(run, 0));
  if (options_.compares())
    fmt::print(out_, "  * against {} of the same layer\n", compiler::to_string(options_.schedules[0]));
  fmt::print(out_, "\n");
  for (std::size_t s = 0; s < options_.schedules.size(); ++s) {
    const Totals t = sum_layers(run, s);
    fmt::print(out_, "time       {} cycles = {:.6f} ms at {} GHz{}\n", grouped(t.cycles),
               static_cast<double>(t.cycles) / (options_.config.clock_ghz * 1e6), options_.config.clock_ghz,
               options_.compares() ? fmt::format(" ({})", compiler::to_string(options_.schedules[s])) : "");
  }
  print_energies(out_, options_, run);
  print_plans(out_, options_, run);
  speed(run);
  fmt::print(out_, "checked    counters add up{}; no results: the timing model has no data\n",
             options_.stream.empty() ? " and are those of the plan" : "");
  print_end(out_, options_, run);
}

} // namespace gradweave::runtime
