// How `gradweave cosim` treats runs that take long: an estimate first, a record to resume from, the background.
#pragma once

#include "app/cli/run/cosim_arguments.hpp"
#include "runtime/record/run_record.hpp"
#include "runtime/run/run.hpp"

#include <memory>
#include <string>

namespace gradweave::cli {

/// How a run is carried out.
struct RunPlan {
  runtime::RunSupport support;
  std::unique_ptr<runtime::RunRecord> record; ///< null: the run cannot be resumed
  bool background = false;
  std::string running; ///< id of the same run, which another process is at: this one is not to be run; empty: none
};

/// Estimates the run, says on stderr what to expect if that is more than a few seconds, and opens its record if it has
/// one. Throws std::invalid_argument if the arguments contradict each other, OutputError if a run in the background
/// cannot be recorded.
RunPlan plan_run(const CosimArguments &arguments, const runtime::RunOptions &options);

/// Goes on in the background: true in the new process, which has no terminal and writes its report and its progress
/// into the record's directory; false in the old one, which has told the user about it. `program`: how this command was
/// called.
bool continue_in_background(const RunPlan &plan, const std::string &program, SignalGuard &signals);

/// `--status`: tells about the run called `id`, all if empty. The exit code is that of the worst that has ended, else
/// kInterrupted or kRunning if there is such a one.
int show_runs(const std::string &id);
/// `--stop`: ends a run in the background. Throws std::invalid_argument if it is not running.
int stop(const std::string &id);

} // namespace gradweave::cli
