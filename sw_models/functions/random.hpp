// Random bits from a counter, N20 of docs/numerics.md: bits = f(seed, step, tensor, element), so that a mask is made
// again in the backward pass instead of kept, and no order of work changes it.
//
// The generator is Threefry-2x32 with 13 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2,
// 3, SC 2011): sums, rotations and exclusive ors of 32 bits, which is what a lane has; Philox, of the same paper, takes
// a multiplier of 32 x 32 bits in each. Key: (seed, step). Counter: (element, tensor). Two different quadruples never
// share both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gradweave::functions {

/// What a tensor's elements have in common: the additions of the key, the constants of a program.
struct RandomKey {
  std::uint32_t element;                             ///< added to the element's index
  std::uint32_t tensor;                              ///< where the other word begins
  std::array<std::array<std::uint32_t, 2>, 5> round; ///< added after rounds 4, 8, 12, 16 and 20
};

constexpr RandomKey random_key(std::uint32_t seed, std::uint32_t step, std::uint32_t tensor) {
  const std::uint32_t key[3] = {seed, step, 0x1BD11BDAU ^ seed ^ step};
  RandomKey sums{key[0], tensor + key[1], {}};
  for (std::uint32_t i = 1; i <= 5; ++i)
    sums.round[i - 1] = {key[i % 3], key[(i + 1) % 3] + i};
  return sums;
}

template <class P> struct RandomWords {
  typename P::Value first;
  typename P::Value second;
};

/// Threefry-2x32. The published tests have Rounds = 13 and 20 (tests/sw_models).
template <std::size_t Rounds, class P> RandomWords<P> threefry(P &p, const RandomKey &key, typename P::Value element) {
  static_assert(Rounds >= 1 && Rounds < 24, "RandomKey has the sums of 23 rounds");
  constexpr std::array<unsigned, 8> kRotations = {13, 15, 26, 6, 17, 29, 16, 24};
  auto first = p.iadd(element, p.constant(key.element));
  auto second = p.constant(key.tensor);
  for (std::size_t round = 0; round < Rounds; ++round) {
    const unsigned left = kRotations[round % 8];
    first = p.iadd(first, second);
    const auto upper = p.shl(second, left);
    second = p.bxor(upper, p.shr(second, 32 - left)); // a rotation: the parts do not overlap
    second = p.bxor(second, first);
    if (round % 4 == 3) {
      first = p.iadd(first, p.constant(key.round[round / 4][0]));
      second = p.iadd(second, p.constant(key.round[round / 4][1]));
    }
  }
  return {first, second};
}

inline constexpr std::size_t kRandomRounds =
    13; ///< the fewest that pass all tests of TestU01's BigCrush (table 2 of the paper)

/// 32 random bits of an element: the first word.
template <class P> typename P::Value random_bits(P &p, const RandomKey &key, typename P::Value element) {
  return threefry<kRandomRounds>(p, key, element).first;
}

/// 2^31 times the probability to keep, rounded to nearest: what the upper 31 bits of an element stay below if it is
/// kept. `keep` in [0, 1]; 1 keeps all, 0 none.
constexpr std::uint32_t keep_threshold(double keep) { return static_cast<std::uint32_t>(keep * 0x1p31 + 0.5); }

/// All of its sign bit is set if the element is kept: for select.
template <class P>
typename P::Value keep(P &p, const RandomKey &key, typename P::Value element, std::uint32_t threshold) {
  return p.isub(p.shr(random_bits(p, key, element), 1), p.constant(threshold));
}

} // namespace gradweave::functions
