// Runs independent tasks as parallel child processes. Processes rather than threads: a crash in one would take the
// others with it.
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradweave {

/// SIGINT, SIGTERM or SIGHUP arrived, or whoever asked for the work wants it to end.
class Interrupted : public std::runtime_error {
public:
  explicit Interrupted(int signal);
};

/// Tells whether a long computation is to end before it is done.
class SignalGuard {
public:
  /// While it lives, SIGINT, SIGTERM and SIGHUP are not delivered but kept for run_tasks(), so that outputs opened
  /// meanwhile are cleaned up by their destructors.
  SignalGuard();
  /// Signals are somebody else's, in a program that uses this as a library. The computation ends as if one had arrived
  /// once `fd` (an eventfd, which must outlive this) holds its number.
  explicit SignalGuard(int fd) : fd_(fd), kept_(false) {}
  ~SignalGuard();
  SignalGuard(const SignalGuard &) = delete;
  SignalGuard &operator=(const SignalGuard &) = delete;
  /// Readable once a signal has arrived.
  int fd() const { return fd_; }
  /// The signal that has arrived, and is taken; 0: none.
  int take() const;
  /// Throws Interrupted if a signal has arrived.
  void check() const;

private:
  int fd_;
  bool kept_ = true; ///< from being delivered
};

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
