// What counts as progress for the watchdog (rtl/cmd/gw_run_ctrl.sv), and when it expires.
#pragma once

#include "sw_models/timing/engines/command_times.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace gradweave::timing {

/// Cycles with progress. Only a watchdog so short that legal work may trip it needs them all.
class ProgressLog {
public:
  explicit ProgressLog(bool on) : on_(on) {}
  bool on() const { return on_; }
  void add(std::uint64_t cycle) { add(cycle, cycle); }
  /// Cycles first to last.
  void add(std::uint64_t first, std::uint64_t last) {
    if (on_) spans_.emplace_back(first, last);
  }
  /// Cycle in which a watchdog of `watchdog` cycles expires, if that is before `end`; else kNever.
  std::uint64_t expiry(std::uint64_t watchdog, std::uint64_t end) {
    std::sort(spans_.begin(), spans_.end());
    std::uint64_t next = 0; // first cycle after the last progress
    for (const auto &[first, last] : spans_) {
      if (first >= next + watchdog) break;
      next = std::max(next, last + 1);
    }
    return next + watchdog - 1 < end ? next + watchdog - 1 : kNever;
  }

private:
  bool on_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans_;
};

} // namespace gradweave::timing
