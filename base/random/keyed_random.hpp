// Random numbers by key and counter: the same on every machine, in any order, without a state.
#pragma once

#include <cstdint>
#include <string_view>

namespace gradweave {

/// SplitMix64's output function (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
inline std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// A sequence of random numbers of its own: that of a seed and a name.
class KeyedRandom {
public:
  KeyedRandom(std::uint64_t seed, std::string_view name) : key_(mixed(seed + kGamma)) {
    for (const char c : name)
      key_ = mixed(key_ ^ static_cast<unsigned char>(c)) + kGamma;
    key_ = mixed(key_ ^ name.size());
  }

  /// The number at a place of the sequence, all 64 bits random.
  std::uint64_t at(std::uint64_t index) const { return mixed(key_ + (index + 1) * kGamma); }
  /// Below `bound`, which is at least 1; as even as 32 bits of fraction make it.
  std::uint32_t below(std::uint32_t bound, std::uint64_t index) const {
    return static_cast<std::uint32_t>(((at(index) >> 32U) * bound) >> 32U);
  }
  /// In [0, 1), a multiple of 2^-53.
  double uniform(std::uint64_t index) const { return static_cast<double>(at(index) >> 11U) * 0x1p-53; }
  /// Bell-shaped with mean 0 and variance 1, within 6: the sum of twelve uniform numbers of 16 bits, in whole numbers.
  double bell(std::uint64_t index) const {
    std::int64_t sum = 0;
    for (std::uint64_t word = 0; word < 3; ++word)
      for (std::uint64_t bits = at(3 * index + word), i = 0; i < 4; ++i, bits >>= 16U)
        sum += static_cast<std::int64_t>(bits & 0xffffU) * 2 - 65535;
    return static_cast<double>(sum) * 0x1p-17;
  }

private:
  static constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15U;

  std::uint64_t key_;
};

} // namespace gradweave
