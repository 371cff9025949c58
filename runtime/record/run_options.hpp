// What a run is asked for, and what it gives.
#pragma once

#include "runtime/job/job.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::runtime {

/// What a run was asked to do; everything that a report has to state.
struct RunOptions {
  std::string model, npu; ///< as the user gave them
  compiler::Network network;
  Machine config;
  std::vector<compiler::Layer> layers;
  std::vector<compiler::Schedule> schedules; ///< several: compare, the first is the baseline
  compiler::CompileOptions compile;          ///< but for the schedule, of which there may be several
  Backend backend = Backend::kRtl;
  DataKind data = DataKind::kNormal;
  std::uint64_t seed = 1;
  unsigned jobs = 1;
  BusStress stress;
  TraceOptions trace;    ///< `file` is that of the only job, if given
  std::string trace_dir; ///< else where waveforms go; empty: none
  std::string stream;    ///< a stream file to be simulated instead of layers; empty: none
  std::string times;     ///< timing traces of commands: the file of the only job, or a directory; empty: none
  std::string timeline;  ///< drawings of the same: likewise
  bool sketch = false;   ///< whether results have a sketch of them, for a page
  compiler::PlanStore *plans = nullptr; ///< of earlier processes; null: none. Outlives the run
  bool quiet = false;
  std::string reproduce; ///< the command that repeats the run

  bool compares() const { return schedules.size() > 1; }
};

struct RunResult {
  /// By layer in network order, then by schedule. After bad input the run is abandoned, and there may be fewer.
  std::vector<std::vector<JobResult>> layers;
  double wall_seconds = 0;             ///< of the whole run, compilation and checks included
  Outcome outcome = Outcome::kPass;    ///< the worst of all jobs
  std::vector<std::string> failures;   ///< of all jobs, and differences between schedules; empty exactly if kPass
  std::size_t kept = 0;                ///< jobs whose results are those of an earlier, interrupted run
  std::uint64_t peak_memory_bytes = 0; ///< of the process that simulated; 0 if there were several
};

/// A job for each layer and schedule, layers in network order.
std::vector<JobSpec> job_specs(const RunOptions &options);
/// The file of a job in a directory that holds one for each; `extension` with its dot.
std::string job_file(const std::string &directory, const JobSpec &spec, std::string_view extension);

} // namespace gradweave::runtime
