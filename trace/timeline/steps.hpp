// Counter values over time, as the changes that lead to them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gradweave::runtime::timeline {

struct Step {
  std::uint64_t cycle = 0; ///< first in which the change holds
  std::int64_t change = 0;
};

/// Calls f(cycle, value) with each new value from 0 on, in rising cycles: changes of one cycle are one step, and a step
/// that changes nothing is none. Sorts `steps`.
template <typename F> void for_values(std::vector<Step> &steps, F f) {
  std::sort(steps.begin(), steps.end(), [](const Step &a, const Step &b) { return a.cycle < b.cycle; });
  std::int64_t value = 0;
  for (auto at = steps.begin(); at != steps.end();) {
    const std::uint64_t cycle = at->cycle;
    std::int64_t change = 0;
    for (; at != steps.end() && at->cycle == cycle; ++at)
      change += at->change;
    if (change == 0) continue;
    value += change;
    f(cycle, value);
  }
}

} // namespace gradweave::runtime::timeline
