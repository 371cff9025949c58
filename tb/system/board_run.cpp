#include "tb/system/board_run.hpp"

#include <exception>

namespace gradweave::tb {

namespace {

constexpr unsigned kSliceCycles = 1024; ///< between two looks at the rest of the world

} // namespace

BoardRun::BoardRun(Board &board, std::uint64_t first_ps, std::uint64_t period_ps, std::uint64_t watchdog)
    : board_(board), next_ps_(first_ps), period_ps_(period_ps), watchdog_(watchdog), thread_([this] { run(); }) {}

BoardRun::~BoardRun() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  thread_.join();
}

std::uint64_t BoardRun::end_until(std::uint64_t ps) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return end_ps_ != kNever || passed_ps_ >= ps; });
  return end_ps_ <= ps ? end_ps_ : kNever;
}

/// A slice of them; false: that was the last.
bool BoardRun::edges() {
  try {
    for (unsigned i = 0; i < kSliceCycles; ++i) {
      board_.edge();
      next_ps_ += period_ps_;
      if (const std::exception_ptr error = board_.clock.take_error()) std::rethrow_exception(error);
      if (!board_.control.running()) return false;
    }
    board_.control.check_alive(watchdog_);
    return true;
  } catch (const std::exception &error) {
    problem_ = error.what();
    return false;
  }
}

void BoardRun::run() {
  for (bool goes_on = true; goes_on;) {
    goes_on = edges();
    const std::lock_guard<std::mutex> lock(mutex_);
    passed_ps_ = next_ps_ - period_ps_;
    if (!goes_on) end_ps_ = passed_ps_;
    goes_on = goes_on && !stop_;
    changed_.notify_one();
  }
}

} // namespace gradweave::tb
