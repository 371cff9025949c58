// SIGINT, SIGTERM and SIGHUP (unless ignored) end a program within a second, whatever it is doing, and nothing
// half-written stays.
#pragma once

#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>

namespace gradweave {

/// SIGINT, SIGTERM or SIGHUP arrived, or whoever asked for the work wants it to end.
class Interrupted : public std::runtime_error {
public:
  explicit Interrupted(int signal);
  int signal() const { return signal_; }

private:
  int signal_;
};

/// What a shell says of a program that a signal ended.
constexpr int exit_code_of(int signal) { return 128 + signal; }

/// Tells whether a long computation is to end before it is done, and ends the process if the computation does not heed
/// that.
class SignalGuard {
public:
  /// While it lives, SIGINT, SIGTERM and SIGHUP are not delivered. One that arrives is told by fd(), take() and
  /// check(). A process that still has the guard 0.4 s later calls `clean_up` in a thread of the guard, and exits with
  /// exit_code_of(signal): code that computes need not look for signals, only code that has something to save.
  explicit SignalGuard(std::function<void()> clean_up = {});
  /// Signals are somebody else's, in a program that uses this as a library. The computation ends as if one had arrived
  /// once `fd` (an eventfd, which must outlive this) holds its number.
  explicit SignalGuard(int fd) : fd_(fd) {}
  ~SignalGuard();
  SignalGuard(const SignalGuard &) = delete;
  SignalGuard &operator=(const SignalGuard &) = delete;

  /// Readable once a signal has arrived.
  int fd() const { return fd_; }
  /// The first signal that has arrived; 0: none.
  int take() const;
  /// Throws Interrupted if a signal has arrived.
  void check() const;

  /// Watches in this process, too, which was forked with the guard and goes on in its place.
  void continue_after_fork();
  /// In a forked process: delivers signals again.
  static void unblock();

private:
  void begin();
  void close_files();
  void watch();

  std::function<void()> clean_up_;
  int fd_ = -1;                  ///< eventfd with the signal's number
  int signals_ = -1, stop_ = -1; ///< signalfd; eventfd by which the destructor ends the thread. -1: not the guard's
  mutable std::atomic<int> arrived_{0};
  std::thread thread_;
};

} // namespace gradweave
