// Several networks woven on one NPU: compiled into one stream, run on one device, every bit checked.
#pragma once

#include "compiler/weave/weave.hpp"
#include "runtime/job/job.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gradweave::runtime {

struct WovenRequest {
  std::vector<compiler::WeaveJob> jobs;
  Machine npu;
  compiler::WeaveOptions weave;
  std::uint64_t plans = 40; ///< tried for each shape at least
  unsigned threads = 1;     ///< that look for them
  Backend backend = Backend::kTiming;
  DataKind data = DataKind::kNormal;
  std::uint64_t seed = 1; ///< of the data
  DeviceOptions device;
};

/// One of the jobs. Cycles are those of the timing model, which a backend with time must have as well.
struct WovenJob {
  std::string name;
  compiler::Pass pass = compiler::Pass::kForward;
  std::size_t layers = 0;
  std::uint64_t commands = 0;
  std::uint64_t array_cycles = 0;             ///< that its products take of the array
  std::uint64_t moved_bytes = 0;              ///< by its LOADs and STOREs
  std::uint64_t alone_cycles = 0;             ///< of the job alone on the NPU, with the best of the same plans
  std::uint64_t finish_cycles = 0;            ///< from the beginning of the run to the end of its last command
  std::uint64_t elements = 0, mismatches = 0; ///< of its results

  /// Its share of the speed that it has alone.
  double progress() const { return static_cast<double>(alone_cycles) / static_cast<double>(finish_cycles); }
};

struct WovenRun {
  std::vector<WovenJob> jobs;
  compiler::Woven woven;               ///< but for the program
  std::uint64_t one_by_one_cycles = 0; ///< of one stream, a job after the other
  JobResult result;                    ///< of all jobs together

  std::uint64_t cycles() const { return result.predicted_cycles; }
  /// Sum of all jobs' cycles alone.
  std::uint64_t alone_cycles() const;
  /// The better of one by one: in one stream, or each alone.
  std::uint64_t baseline_cycles() const;
  /// System throughput (S. Eyerman, L. Eeckhout, "System-level performance metrics for multiprogram workloads", IEEE
  /// Micro 28(3), 2008): the sum of all jobs' progress.
  double stp() const;
  /// Average normalised turnaround time (there): the mean of how many times longer jobs take than alone.
  double antt() const;
  /// The least progress over the largest: 1 if all are slowed alike.
  double fairness() const;
};

/// What the run tells while it goes on.
struct WovenEvents {
  /// What is being done, with the share of it that is done. May throw, which abandons the run.
  std::function<void(const std::string &, double)> progress;
  TimesFunction times; ///< as JobEvents::times
};

/// Plans, weaves, runs and checks. A job's data is that of JobSet's names, so that it is the same alone. Throws
/// CompileError and std::invalid_argument as JobSet, JobPlans and weave() do; what goes wrong on the device is in the
/// result.
WovenRun run_woven(const WovenRequest &request, const WovenEvents &events = {});

} // namespace gradweave::runtime
