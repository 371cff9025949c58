// Random choices that are the same for a seed with every standard library (std distributions and shuffle are not).
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>

namespace gradweave {

class Dice {
public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  /// 0 to n - 1; the bias of the remainder does not matter for tests.
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(below(std::uint64_t{high} - low + 1));
  }
  bool chance(double p) { return static_cast<double>(engine_() >> 11U) * 0x1p-53 < p; }
  template <typename Container> void shuffle(Container &c) {
    for (std::size_t i = c.size(); i > 1; --i)
      std::swap(c[i - 1], c[below(i)]);
  }

private:
  std::mt19937_64 engine_;
};

} // namespace gradweave
