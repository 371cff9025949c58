// Runs layers that were compiled into one stream, and checks every result.
#pragma once

#include "compiler/back/step.hpp"
#include "runtime/job.hpp"

namespace gradweave::runtime {

/// What a step is run with.
struct StepSpec {
  std::string network; ///< name, part of the key of the data
  NpuConfig npu;
  Backend backend = Backend::kRtl;
  DataKind data = DataKind::kNormal;
  std::uint64_t seed = 1;
};

struct StepResult {
  std::uint64_t cycles = 0; ///< 0 if the backend has no time
  double cpu_seconds = 0;   ///< of the device's run alone
  std::uint64_t elements = 0, mismatches = 0;
  Outcome outcome = Outcome::kPass;
  std::vector<std::string> failures; ///< for people; empty exactly if outcome is kPass
};

/// Fills the inputs with seeded data, runs the stream, and compares every element of every result with the golden
/// model, which computes what one layer takes from another in the same order. A tensor that layers share as dX and dY,
/// or as Y and X, has the same bits for both: nothing happens to it in between. With time, the cycles must be those
/// that the timing model predicted.
StepResult run_step(const compiler::CompiledStep &step, const StepSpec &spec, const ProgressFunction &progress = {});

} // namespace gradweave::runtime
