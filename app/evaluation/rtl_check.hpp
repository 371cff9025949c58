// Runs streams of an evaluation on the RTL as well.
#pragma once

#include "app/evaluation/page/evaluation.hpp"
#include "app/evaluation/study/workload.hpp"
#include "app/evaluation/unit/evaluations.hpp"
#include "base/process/process_pool.hpp"

#include <vector>

namespace gradweave::evaluation {

struct RtlSelection {
  bool all = false;         ///< every stream
  std::uint32_t sample = 0; ///< else so many of each network
  std::uint64_t cycles = 0; ///< drawn among those that take at most so many
  std::uint64_t seed = 1;
};

/// Streams to run among those that were evaluated. A sample is of the study's small NPU. Units that
/// are not executable and units without result have none.
std::vector<RtlUnit> select_for_rtl(const std::vector<Unit> &units, const Workloads &workloads, Evaluations &results,
                                    const RtlSelection &selection);
/// The same of work that has streams. A sample is of NPUs whose RTL is built.
std::vector<RtlUnit> select_for_rtl(const std::vector<Work> &works, Evaluations &results,
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
