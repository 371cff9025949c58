// Runs independent tasks as parallel child processes. Processes rather than threads: a crash in one would take the
// others with it.
#pragma once

#include "base/process/signal_guard.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gradweave {

/// Runs in the child. Returns the text that the parent gets; may report its progress, a fraction of 1. An exception
/// ends the child with its message as the problem.
using Task = std::function<std::string(const std::function<void(double)> &report_progress)>;

struct TaskEnd {
  bool completed = false;
  std::string result;  ///< what the task returned, if completed
  std::string problem; ///< else how the process ended
  int signal = 0;      ///< that killed it; 0: none
  std::string output;  ///< the end of what it printed
  double cpu_seconds = 0;
};

struct PoolEvents {
  std::function<void(std::size_t task)> starting; ///< in the parent, before the task's process exists
  std::function<void(std::size_t task, double fraction)> progress;
  /// Return false to abandon all other tasks.
  std::function<bool(std::size_t task, const TaskEnd &end)> ended;
  std::function<void()> tick; ///< a few times a second
};

/// Runs every task, at most `jobs` at a time, started in the order of `order` (indices into `tasks`). Children die with
/// the parent. Throws Interrupted, after all children are gone, if a signal arrives.
void run_tasks(const std::vector<Task> &tasks, const std::vector<std::size_t> &order, unsigned jobs,
               const SignalGuard &signals, const PoolEvents &events);

} // namespace gradweave
