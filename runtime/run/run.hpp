// A run: all jobs of a cosimulation, in parallel, and what came out of them.
#pragma once

#include "base/process/process_pool.hpp"
#include "runtime/record/estimate.hpp"
#include "runtime/record/run_options.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::runtime {

/// Called for each layer, in network order, once all its jobs have ended.
using LayerDone = std::function<void(const std::vector<JobResult> &by_schedule)>;

class RunRecord;

/// What a run works with besides its options.
struct RunSupport {
  Estimate expected;           ///< of job_specs(), in their order
  RunRecord *record = nullptr; ///< finished jobs are taken from it and added to it; null: none
};

/// Runs all jobs that the record does not have. Throws Interrupted if a signal arrives; partial waveforms are then
/// removed.
RunResult run_all(const RunOptions &options, const RunSupport &support, const SignalGuard &signals,
                  const LayerDone &layer_done);

} // namespace gradweave::runtime
