// CPU time of runs that are too short to be timed one by one.
#pragma once

#include "base/process/stopwatch.hpp"

namespace gradweave::bench {

class RunTimer {
public:
  /// Calls `run` until the calls have taken `seconds`. Reading the CPU time costs about a microsecond, so it is read
  /// between batches that double.
  template <typename Run> void repeat_for(double seconds, const Run &run) {
    const double until = total_ + seconds;
    for (int batch = 1; total_ < until; batch *= 2) {
      const Stopwatch stopwatch;
      for (int i = 0; i < batch; ++i)
        run();
      total_ += stopwatch.cpu_seconds();
      runs_ += batch;
    }
  }
  /// Of one run, on average over all calls.
  double seconds() const { return total_ / runs_; }

private:
  double total_ = 0;
  int runs_ = 0;
};

} // namespace gradweave::bench
