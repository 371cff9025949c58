// Moves the status line of a long computation of the main thread.
#pragma once

#include "base/process/progress.hpp"

#include <mutex>
#include <thread>

namespace gradweave {

/// A thread that redraws the status line a few times a second, under a lock that the main thread takes while it prints
/// or changes the display.
class Heartbeat {
public:
  /// `display` must outlive this.
  explicit Heartbeat(ProgressDisplay &display);
  ~Heartbeat();
  Heartbeat(const Heartbeat &) = delete;
  Heartbeat &operator=(const Heartbeat &) = delete;

  std::unique_lock<std::mutex> lock() { return std::unique_lock<std::mutex>(mutex_); }

private:
  void beat();

  ProgressDisplay &display_;
  std::mutex mutex_;
  int stop_; ///< eventfd: the destructor wakes the thread
  std::thread thread_;
};

} // namespace gradweave
