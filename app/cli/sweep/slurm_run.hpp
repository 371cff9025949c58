// How gradweave sweep --slurm goes about a study.
#pragma once

#include "app/sweep/run.hpp"
#include "app/sweep/slurm.hpp"
#include "base/process/process_pool.hpp"

#include <string>
#include <vector>

namespace gradweave::cli {

struct SlurmRun {
  const sweep::Study &study;
  std::string out; ///< the sweep's file
  sweep::SlurmOptions options;
  bool quiet = false;
};

/// Collects what earlier jobs have, submits the shares in which something is missing and that no job is at, and waits
/// for them if it is told to. Whether all points have a result then. Throws SlurmError, DatabaseError, OutputError,
/// Interrupted (the jobs go on).
bool run_on_slurm(const SlurmRun &run, sweep::Store &store, const std::vector<sweep::Work> &work,
                  const SignalGuard &signals);

} // namespace gradweave::cli
