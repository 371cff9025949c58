// Clause N20: the generator against its authors' published answers, and what dropout needs of it.
#include "sw_models/functions/count.hpp"
#include "sw_models/functions/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace gradweave::functions {
namespace {

struct Answer {
  std::uint32_t counter[2], key[2], after13[2], after20[2];
};

// Random123's kat_vectors, threefry2x32.
constexpr Answer kAnswers[] = {
    {{0, 0}, {0, 0}, {0x9D1C5EC6U, 0x8BD50731U}, {0x6B200159U, 0x99BA4EFEU}},
    {{~0U, ~0U}, {~0U, ~0U}, {0xFD36D048U, 0x2D17272CU}, {0x1CB996FCU, 0xBB002BE7U}},
    {{0x243F6A88U, 0x85A308D3U}, {0x13198A2EU, 0x03707344U}, {0xBA3E4725U, 0xF27D669EU}, {0xC4923A9CU, 0x483DF7A0U}}};

TEST(N20Random, HasThePublishedAnswers) {
  for (const Answer &answer : kAnswers) {
    const RandomKey key = random_key(answer.key[0], answer.key[1], answer.counter[1]);
    Fp32 p;
    const auto words13 = threefry<13>(p, key, answer.counter[0]);
    EXPECT_EQ(words13.first, answer.after13[0]);
    EXPECT_EQ(words13.second, answer.after13[1]);
    const auto words20 = threefry<20>(p, key, answer.counter[0]);
    EXPECT_EQ(words20.first, answer.after20[0]);
    EXPECT_EQ(words20.second, answer.after20[1]);
    EXPECT_NE(threefry<12>(p, key, answer.counter[0]).first, answer.after13[0]);
    EXPECT_EQ(random_bits(p, key, answer.counter[0]), answer.after13[0]);
  }
}

TEST(N20Random, EachArgumentMatters) {
  const auto bits_of = [](std::uint32_t seed, std::uint32_t step, std::uint32_t tensor, std::uint32_t element) {
    Fp32 p;
    return random_bits(p, random_key(seed, step, tensor), element);
  };
  const std::uint32_t reference = bits_of(1, 2, 3, 4);
  for (unsigned bit = 0; bit < 32; ++bit) {
    const std::uint32_t flip = 1U << bit;
    EXPECT_NE(bits_of(1 ^ flip, 2, 3, 4), reference);
    EXPECT_NE(bits_of(1, 2 ^ flip, 3, 4), reference);
    EXPECT_NE(bits_of(1, 2, 3 ^ flip, 4), reference);
    EXPECT_NE(bits_of(1, 2, 3, 4 ^ flip), reference);
  }
  EXPECT_NE(bits_of(2, 1, 3, 4), reference);
  EXPECT_NE(bits_of(1, 2, 4, 3), reference);
}

TEST(N20Random, ArraysHaveTheSameBits) {
  const RandomKey key = random_key(7, 8, 9);
  std::vector<std::uint32_t> words(1003);
  random_bits(key, 0xFFFFFF00U, words.data(), words.size()); // the index wraps
  for (std::size_t i = 0; i < words.size(); ++i) {
    Fp32 p;
    ASSERT_EQ(words[i], random_bits(p, key, 0xFFFFFF00U + static_cast<std::uint32_t>(i)));
  }
}

TEST(N20Random, KeepsTheShareAskedFor) {
  constexpr std::uint32_t kElements = 1'000'000;
  for (const double share : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    const RandomKey key = random_key(20, 0, static_cast<std::uint32_t>(share * 10));
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < kElements; ++i) {
      Fp32 p;
      kept += keep(p, key, i, keep_threshold(share)) >> 31U;
    }
    EXPECT_LE(std::fabs(kept - share * kElements), 5 * std::sqrt(share * (1 - share) * kElements)) << share;
  }
}

TEST(N20Random, TheThresholdIsExclusive) {
  Fp32 p;
  const RandomKey key = random_key(1, 2, 3);
  const std::uint32_t upper = random_bits(p, key, 4U) >> 1U;
  EXPECT_EQ(keep(p, key, 4U, upper) >> 31U, 0U);
  EXPECT_EQ(keep(p, key, 4U, upper + 1) >> 31U, 1U);
  EXPECT_EQ(keep_threshold(0), 0U);
  EXPECT_EQ(keep_threshold(1), 0x80000000U);
}

TEST(N20Random, TakesTheOperationsOfTheTable) {
  Count bits_only, mask;
  random_bits(bits_only, random_key(1, 2, 3), Count::Value{});
  keep(mask, random_key(1, 2, 3), Count::Value{}, 5);
  EXPECT_EQ(bits_only.operations(), 72U);
  EXPECT_EQ(mask.operations(), 74U);
}

} // namespace
} // namespace gradweave::functions
