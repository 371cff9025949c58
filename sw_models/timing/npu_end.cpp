// How a run ends that does not retire its last command: by the watchdog, by an error, or never.
#include "sw_models/timing/npu_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::timing {

std::uint64_t NpuTiming::host_since() const {
  if (mark_blocked()) return std::max(engines_[kStore].head_since, marks_full_since_);
  std::uint64_t since = 0;
  for (const Engine &engine : engines_)
    if (engine.any_done) since = std::max(since, engine.last_done + 1);
  return since;
}

void NpuTiming::never_ends() const {
  if (host_is_next())
    throw std::runtime_error(
        fmt::format("the run never ends: after {} of {} commands all wait for the host, whose last "
                    "write was that; close the ring, and take the marks out of the log",
                    retired_, count_));
  throw std::runtime_error(fmt::format("the stream never ends: after {} of {} commands all engines wait for "
                                       "semaphores, and the watchdog is off; set it to end such a run",
                                       retired_, count_));
}

void NpuTiming::expire(std::uint64_t cycle) {
  end_ = cycle;
  const auto oldest = std::find_if(result_.commands.begin(), result_.commands.end(),
                                   [](const CommandTimes &t) { return t.done == kNever; });
  stop(isa::ErrorCode::WATCHDOG, static_cast<std::uint32_t>(oldest - result_.commands.begin()));
}

std::uint64_t NpuTiming::expiry() const {
  if (limit_ != kNever) return limit_;
  if (watchdog_ == 0 || next_event() != kNever || !memory_.idle() || host_is_next()) return kNever;
  return std::max(last_progress_, memory_.last_handshake()) + watchdog_;
}

/// The run's last cycle is the first error's. What was offered to the bus until then ends; it is quiet in the cycle
/// behind its last handshake, and seen to be so in that one. A bus that does not get quiet is waited for no longer than
/// the watchdog's time.
std::uint64_t NpuTiming::stop_cycles() {
  const std::uint64_t quiet = std::max(end_, memory_.stop(end_)) + latency::kHandshakeToQuiet - end_;
  return watchdog_ == 0 ? quiet : std::min<std::uint64_t>(quiet, watchdog_);
}

} // namespace gradweave::timing
