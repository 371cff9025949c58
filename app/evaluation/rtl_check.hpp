// Runs units on the RTL as well.
#pragma once

#include "app/evaluation/page/evaluation.hpp"
#include "app/evaluation/study/workload.hpp"
#include "base/process/process_pool.hpp"

#include <vector>

namespace gradweave::evaluation {

struct RtlSelection {
  bool all = false;         ///< every unit that can run
  std::uint32_t sample = 0; ///< else so many of each network
  std::uint64_t cycles = 0; ///< drawn among those that take at most so many
  std::uint64_t seed = 1;
};

/// A unit of a network's layer.
struct RtlUnit {
  std::string network;
  Unit unit;
  std::uint64_t cycles = 0; ///< by the timing model
};

/// Units to run among those that were evaluated. A sample is of the study's small NPU. Units that
/// are not executable and units without result are not among them.
std::vector<RtlUnit> select_for_rtl(const std::vector<Unit> &units, const Workloads &workloads, Evaluations &results,
                                    const RtlSelection &selection);

struct RtlRun {
  std::vector<RtlCheck> checks;
  std::string unavailable; ///< why the RTL cannot run; empty: it could
};

/// Runs each in a process of its own, `jobs` at a time, checks every result bit and that the cycles are those of the
/// timing model. Checks that passed are kept and not run again with the same library of the NPU. Throws
/// Interrupted.
RtlRun run_on_rtl(const std::vector<RtlUnit> &units, unsigned jobs, bool quiet, ResultsFile &kept,
                  const SignalGuard &signals);

} // namespace gradweave::evaluation
