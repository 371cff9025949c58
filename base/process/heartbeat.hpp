// Keeps a long computation of the main thread responsive: its status line moves, and a signal ends it at once.
#pragma once

#include "base/process/process_pool.hpp" // Interrupted, SignalGuard
#include "base/process/progress.hpp"

#include <functional>
#include <mutex>
#include <thread>

namespace gradweave {

/// A thread that redraws the status line a few times a second and watches for signals. Both happen under a lock that
/// the main thread takes while it prints or writes outputs, and only then.
class Heartbeat {
public:
  /// `interrupted` is called in the thread, under the lock. It removes unfinished outputs and ends the process, or lets
  /// the main thread know, which may be in the middle of anything. All must outlive this.
  Heartbeat(const SignalGuard &signals, ProgressDisplay &display, std::function<void(const Interrupted &)> interrupted);
  ~Heartbeat();
  Heartbeat(const Heartbeat &) = delete;
  Heartbeat &operator=(const Heartbeat &) = delete;

  std::unique_lock<std::mutex> lock() { return std::unique_lock<std::mutex>(mutex_); }

private:
  void beat(const SignalGuard &signals);

  ProgressDisplay &display_;
  std::function<void(const Interrupted &)> interrupted_;
  std::mutex mutex_;
  int stop_; ///< eventfd: the destructor wakes the thread
  std::thread thread_;
};

} // namespace gradweave
