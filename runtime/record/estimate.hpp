// How long a run will take, before it begins.
#pragma once

#include "runtime/job/job.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::runtime {

/// How fast simulation processes are: cycles of the NPU per second of CPU time, inputs and checks of results included.
struct SimulationSpeed {
  double cycles_per_second = 0;
  std::string source; ///< where the figure comes from, for people
};

/// The figure for machines that have not simulated this NPU yet (docs/cli.md).
SimulationSpeed built_in_speed(const NpuConfig &npu, Backend backend);

/// What one job is expected to cost.
struct JobEstimate {
  std::uint64_t cycles = 0;   ///< of the NPU
  double compile_seconds = 0; ///< 0 if an earlier job has the same shape and schedule
  double run_seconds = 0;     ///< of CPU time
  double seconds() const { return compile_seconds + run_seconds; }
};

struct Estimate {
  std::vector<JobEstimate> jobs;
  SimulationSpeed speed;

  std::uint64_t cycles() const;
  /// CPU time of all jobs.
  double cpu_seconds() const;
  /// Of a run that has `workers` processors for itself.
  double wall_seconds(unsigned workers) const;
};

/// Takes the bounds of the layers, which are known at once, for what compilation will find: a layer takes longer than
/// its bound, by 10 % on average; tiny ones and depthwise convolutions on the array can take twice as long. What the
/// vector unit computes is known exactly. Layers that cannot be compiled count nothing.
Estimate estimate(const std::vector<JobSpec> &jobs, SimulationSpeed speed);

} // namespace gradweave::runtime
