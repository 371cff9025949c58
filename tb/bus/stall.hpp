// Seeded random back-pressure.
#pragma once

#include <cstdint>

namespace gradweave::tb {

/// Decides, each time it is asked, whether a ready or valid is held back. The sequence depends on seed and stream only.
class Stall {
public:
  /// `stream` tells apart the channels that share a seed; `probability` in [0, 1), 0 never stalls.
  Stall(std::uint64_t seed, std::uint64_t stream, double probability)
      : state_(seed * 0x9e3779b97f4a7c15U + stream * 0xd1342543de82ef95U + 1),
        threshold_(static_cast<std::uint64_t>(probability * 4294967296.0)) {}

  bool operator()() {
    if (threshold_ == 0) return false;
    state_ += 0x9e3779b97f4a7c15U; // splitmix64
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return ((z ^ (z >> 31U)) >> 32U) < threshold_;
  }

private:
  std::uint64_t state_;
  std::uint64_t threshold_;
};

} // namespace gradweave::tb
