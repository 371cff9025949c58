#include "app/report/summary.hpp"

#include <set>
#include <tuple>

namespace gradweave::runtime {
namespace {

void add_traffic(const compiler::LayerTraffic &traffic, Totals &totals) {
  for (std::size_t i = 0; i < compiler::kTensorCount; ++i) {
    const compiler::Traffic &from = traffic[i];
    totals.traffic[i] += from;
    totals.dram_read_bytes += from.read_bytes;
    totals.dram_write_bytes += from.write_bytes;
    totals.spill_bytes += from.spill_read_bytes + from.spill_write_bytes;
  }
}

void add(Totals &totals, const JobResult &job) {
  ++totals.layers;
  totals.cycles += job.cycles();
  totals.macs += job.macs;
  totals.commands += job.commands;
  totals.compile_seconds += job.compile_seconds;
  totals.cpu_seconds += job.cpu_seconds;
  for (std::size_t i = 0; i < totals.counters.values.size(); ++i)
    totals.counters.values[i] += job.counters.values[i];
  totals.accesses += job.accesses;
  totals.predicted_cycles += job.predicted_cycles;
  totals.compute_bound += job.bounds.compute_cycles;
  totals.traffic_bound += job.bounds.traffic_cycles;
  totals.bound += job.bounds.run_cycles;
  totals.tuning.cycles_before += job.tuning.cycles_before;
  for (const compiler::LayerTraffic &layer : job.traffic)
    add_traffic(layer, totals);
  for (const OutputCheck &check : job.outputs) {
    const auto at = static_cast<std::size_t>(check.tensor);
    totals.checked[at] += check.elements;
    totals.finite[at] += check.finite;
    totals.mismatches[at] += check.mismatches;
    totals.direct += check.direct;
  }
}

void add_effort(compiler::Tuning &sum, const compiler::Tuning &of) {
  sum.candidates += of.candidates;
  sum.simulated += of.simulated;
  sum.improvements += of.improvements;
  sum.seconds += of.seconds;
}

} // namespace

Totals sum_layers(const RunResult &run, std::size_t schedule) {
  Totals totals;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool>> shapes;
  for (const auto &by_schedule : run.layers) {
    const JobResult &job = by_schedule[schedule];
    add(totals, job);
    if (shapes.emplace(job.layer().m, job.layer().k, job.layer().n, job.layer().dx).second)
      add_effort(totals.tuning, job.tuning);
  }
  return totals;
}

Totals sum_all(const RunResult &run) {
  Totals totals;
  for (const auto &by_schedule : run.layers)
    for (const JobResult &job : by_schedule) {
      add(totals, job);
      add_effort(totals.tuning, job.tuning);
    }
  return totals;
}

Totals sum_job(const JobResult &job) {
  Totals totals;
  add(totals, job);
  add_effort(totals.tuning, job.tuning);
  return totals;
}

double dram_utilisation(const AccessCounts &accesses, std::uint64_t cycles, const Machine &config) {
  if (cycles == 0) return 0;
  const double bytes_per_cycle =
      static_cast<double>(config.memory.bytes_num) / static_cast<double>(config.memory.bytes_den);
  return static_cast<double>(accesses.dram_read_bytes + accesses.dram_write_bytes) /
         (static_cast<double>(cycles) * bytes_per_cycle);
}

double utilisation(std::uint64_t macs, std::uint64_t cycles, const NpuConfig &config) {
  if (cycles == 0) return 0;
  return static_cast<double>(macs) / (static_cast<double>(cycles) * config.rows * config.cols * config.cores);
}

} // namespace gradweave::runtime
