// Random bits from a counter, N20 of docs/numerics.md: bits = f(seed, step, tensor, element), so that a mask is made
// again in the backward pass instead of kept, and no order of work changes it.
//
// The generator is Threefry-2x32 with 13 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2,
// 3, SC 2011): sums, rotations and exclusive ors of 32 bits, which is what a lane has; Philox, of the same paper, takes
// a multiplier of 32 x 32 bits in each. Key: (seed, step). Counter: (element, tensor). Two different quadruples never
// share both.
#pragma once

#include "sw_models/functions/fp32.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gradweave::functions {

/// What a tensor's elements have in common: the additions of the key. Words are numbers, the constants of a program, or
/// a policy's values, where a program reads the key.
template <class Word> struct RandomKeyOf {
  Word element;                             ///< added to the element's index
  Word tensor;                              ///< where the other word begins
  std::array<std::array<Word, 2>, 5> round; ///< added after rounds 4, 8, 12, 16 and 20
};
using RandomKey = RandomKeyOf<std::uint32_t>;

/// Of a seed and a step that a program reads.
template <class P>
RandomKeyOf<typename P::Value> random_key(P &p, typename P::Value seed, typename P::Value step, std::uint32_t tensor) {
  const auto mixed = p.bxor(seed, step);
  const std::array<typename P::Value, 3> key{seed, step, p.bxor(mixed, p.constant(0x1BD11BDAU))};
  RandomKeyOf<typename P::Value> sums{key[0], p.iadd(key[1], p.constant(tensor)), {}};
  for (std::uint32_t i = 1; i <= 5; ++i)
    sums.round[i - 1] = {key[i % 3], p.iadd(key[(i + 1) % 3], p.constant(i))};
  return sums;
}

inline RandomKey random_key(std::uint32_t seed, std::uint32_t step, std::uint32_t tensor) {
  Fp32 p;
  return random_key(p, seed, step, tensor);
}

template <class P> struct RandomWords {
  typename P::Value first;
  typename P::Value second;
};

/// A word of a key as a value.
template <class P, class Word> typename P::Value as_value(P &p, const Word &word) {
  if constexpr (std::is_same_v<Word, typename P::Value>)
    return word;
  else
    return p.constant(word);
}

/// Threefry-2x32. The published tests have Rounds = 13 and 20 (tests/sw_models).
template <std::size_t Rounds, class P, class Word>
RandomWords<P> threefry(P &p, const RandomKeyOf<Word> &key, typename P::Value element) {
  static_assert(Rounds >= 1 && Rounds < 24, "a key has the sums of 23 rounds");
  constexpr std::array<unsigned, 8> kRotations = {13, 15, 26, 6, 17, 29, 16, 24};
  auto first = p.iadd(element, as_value(p, key.element));
  auto second = as_value(p, key.tensor);
  for (std::size_t round = 0; round < Rounds; ++round) {
    const unsigned left = kRotations[round % 8];
    first = p.iadd(first, second);
    const auto upper = p.shl(second, left);
    second = p.bxor(upper, p.shr(second, 32 - left)); // a rotation: the parts do not overlap
    second = p.bxor(second, first);
    if (round % 4 == 3) {
      first = p.iadd(first, as_value(p, key.round[round / 4][0]));
      second = p.iadd(second, as_value(p, key.round[round / 4][1]));
    }
  }
  return {first, second};
}

inline constexpr std::size_t kRandomRounds = 13; ///< the fewest that pass all of BigCrush (table 2 of the paper)

/// 32 random bits of an element: the first word. The last round is a sum to it; its rotation is the second word's
/// alone.
template <class P, class Word>
typename P::Value random_bits(P &p, const RandomKeyOf<Word> &key, typename P::Value element) {
  const auto words = threefry<kRandomRounds - 1>(p, key, element);
  return p.iadd(words.first, words.second);
}

/// 2^31 times the probability to keep, rounded to nearest: what the upper 31 bits of an element stay below if it is
/// kept. `keep` in [0, 1]; 1 keeps all, 0 none.
inline std::uint32_t keep_threshold(double keep) { return static_cast<std::uint32_t>(std::llround(keep * 0x1p31)); }

/// All of its sign bit is set if the element is kept: for select.
template <class P, class Word>
typename P::Value keep(P &p, const RandomKeyOf<Word> &key, typename P::Value element, std::uint32_t threshold) {
  return p.isub(p.shr(random_bits(p, key, element), 1), p.constant(threshold));
}

} // namespace gradweave::functions
