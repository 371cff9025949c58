// Which plans are not worth simulating: the estimate of their program says so, as far as estimates have been right.
#pragma once

#include "compiler/cost/cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Estimates and cycles of programs of one layer. What the estimate leaves out is much the same in all of them, so that
/// their ratios differ by some thousandths, where estimates themselves are a few hundredths off.
class Forecast {
public:
  /// A program was simulated.
  void learn(std::uint64_t estimate, std::uint64_t cycles) {
    const double ratio = static_cast<double>(cycles) / static_cast<double>(std::max<std::uint64_t>(estimate, 1));
    ratios_.insert(std::upper_bound(ratios_.begin(), ratios_.end(), ratio), ratio);
  }
  /// A program whose estimate is this or more hardly comes below `limit` cycles; kTooSlow: that cannot be told.
  std::uint64_t most_estimate(std::uint64_t limit) const {
    if (limit == kTooSlow || ratios_.size() < kFew) return kTooSlow;
    const double ratio = ratios_[ratios_.size() / kBelow];
    return static_cast<std::uint64_t>(std::ceil(kMargin * static_cast<double>(limit) / ratio));
  }

private:
  /// Fewer ratios than this tell nothing.
  static constexpr std::size_t kFew = 6;
  /// One in so many of the ratios known may be lower than the one that is reckoned with.
  static constexpr std::size_t kBelow = 5;
  static constexpr double kMargin = 1.002;

  std::vector<double> ratios_; ///< cycles to estimate, ascending
};

} // namespace gradweave::compiler
