// A stream on a board that runs apart from the kernel, in a thread of its own.
#pragma once

#include "tb/board.hpp"

#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <thread>

namespace gradweave::tb {

/// Between its start and its end a stream depends on nothing outside its board, and nothing outside on it. So the board
/// goes ahead of the simulated time, as temporal decoupling of TLM-2.0 has it, to the stream's end; the kernel waits
/// where it would pass a board (conservative parallel simulation), and takes the end at its time. Times do not depend
/// on which thread is how fast.
class BoardRun {
public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  /// `board` is apart, and its control has begun a stream; its first edge is at `first_ps`. `watchdog`: of its NPU, in
  /// cycles.
  BoardRun(Board &board, std::uint64_t first_ps, std::uint64_t period_ps, std::uint64_t watchdog);
  /// Stops it, wherever it is.
  ~BoardRun();
  BoardRun(const BoardRun &) = delete;
  BoardRun &operator=(const BoardRun &) = delete;

  /// Waits until it is known whether it ends at `ps` or before; when, or kNever.
  std::uint64_t end_until(std::uint64_t ps);
  /// After its end: what went wrong in the testbench or the RTL; nothing, if the NPU's registers say how it ended.
  const std::string &problem() const { return problem_; }

private:
  void run();
  bool edges();

  Board &board_;
  std::uint64_t next_ps_, period_ps_, watchdog_;
  std::string problem_;
  std::mutex mutex_; ///< of the following
  std::condition_variable changed_;
  std::uint64_t passed_ps_ = 0; ///< it has not ended up to here
  std::uint64_t end_ps_ = kNever;
  bool stop_ = false;
  std::thread thread_;
};

} // namespace gradweave::tb
