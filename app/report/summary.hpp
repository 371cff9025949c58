// Totals over layers; shared by the table and the JSON report.
#pragma once

#include "runtime/run/run.hpp"
#include "sw_models/energy/access_counts.hpp"

#include <array>
#include <cstdint>

namespace gradweave::runtime {

struct Totals {
  std::uint64_t layers = 0, cycles = 0, macs = 0, commands = 0;
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0,
                spill_bytes = 0; ///< spills: read and written, in the former too
  std::array<compiler::Traffic, compiler::kTensorCount> traffic{};
  std::array<std::uint64_t, compiler::kTensorCount> checked{}, finite{}, mismatches{}; ///< elements of result tensors
  std::uint64_t direct = 0;   ///< elements checked against convolutions computed directly
  Counters counters;          ///< summed over layers
  AccessCounts accesses;      ///< summed over layers
  double compile_seconds = 0; ///< wall-clock time
  double cpu_seconds = 0;     ///< of the devices' runs, summed over processes
  std::uint64_t predicted_cycles = 0;
  std::uint64_t compute_bound = 0, traffic_bound = 0, bound = 0; ///< cycles; `bound`: that no runs of the layers beat
  compiler::Tuning tuning; ///< cycles_before of all layers; the rest counts layers of the same shape once

  std::uint64_t dram_bytes() const { return dram_read_bytes + dram_write_bytes; }
};

/// Of the schedule at position `schedule` in the run's options, over all layers.
Totals sum_layers(const RunResult &run, std::size_t schedule);
/// Of all schedules, over all layers; effort of the search counts each layer and schedule.
Totals sum_all(const RunResult &run);
/// Of one job.
Totals sum_job(const JobResult &job);

/// What the DRAM moves, commands included, per cycle as a share of its bandwidth, 0 to 1; 0 if there are no cycles.
double dram_utilisation(const AccessCounts &accesses, std::uint64_t cycles, const Machine &config);

/// Useful multiply-adds per cycle and PE, 0 to 1; 0 if there are no cycles (functional backend).
double utilisation(std::uint64_t macs, std::uint64_t cycles, const NpuConfig &config);

} // namespace gradweave::runtime
