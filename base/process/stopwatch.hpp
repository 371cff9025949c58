// Wall-clock and CPU time since a moment.
#pragma once

#include <chrono>
#include <ctime>

namespace gradweave {

class Stopwatch {
public:
  double wall_seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count();
  }
  /// Of the whole process.
  double cpu_seconds() const { return cpu_now() - cpu_; }

private:
  static double cpu_now() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  double cpu_ = cpu_now();
};

} // namespace gradweave
