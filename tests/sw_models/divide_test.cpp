// The quotient of N19 against the machine's own division: equal bits wherever the quotient is a normal number.
#include "base/dice.hpp"
#include "tests/sw_models/dropping.hpp"
#include "tests/sw_models/function_cases.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gradweave::functions {
namespace {

std::uint32_t machine_quotient(std::uint32_t a, std::uint32_t b) {
  return bits_of_fp32(canonical(fp32_from_bits(a) / fp32_from_bits(b)));
}

/// Infinite where it is not what it has to be, else the error of a subnormal quotient.
template <class P> double quotient_error(P p, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t got = divide(p, a, b), correct = machine_quotient(a, b);
  if (got == correct) return 0;
  const double exact = double{fp32_from_bits(a)} / fp32_from_bits(b);
  const bool subnormal = std::fabs(exact) < 0x1p-126;
  return subnormal ? error_in_ulp(exact, got) : std::numeric_limits<double>::infinity();
}

std::vector<std::uint32_t> dividends() {
  std::vector<std::uint32_t> values = {0, 1, 2, 3, 0x7F800000U, 0x7F800001U, 0x7FC00000U, 0x7F7FFFFFU};
  for (std::uint32_t exponent = 0; exponent < 255; exponent += 3)
    for (const std::uint32_t offset : {0U, 1U, 0x2AAAABU, 0x7FFFFFU})
      values.push_back(exponent << 23U | offset);
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; ++i)
    values.push_back(values[i] | 0x80000000U);
  return values;
}

TEST(N19Divide, AllPairsOfCorners) {
  double worst = 0;
  for (const std::uint32_t a : dividends())
    for (const std::uint32_t b : dividends()) {
      const double error = quotient_error(Fp32(), a, b);
      ASSERT_LE(error, 0.751) << std::hex << a << " / " << b;
      worst = std::max(worst, error);
    }
  EXPECT_GT(worst, 0.5) << "subnormal quotients are rounded twice; were they not, N19 would be too modest";
}

TEST(N19Divide, RandomPairs) {
  constexpr std::uint64_t kSeed = 24;
  Dice dice(kSeed);
  for (int i = 0; i < 5'000'000; ++i) {
    const std::uint64_t pair = dice.bits();
    const auto a = static_cast<std::uint32_t>(pair), b = static_cast<std::uint32_t>(pair >> 32U);
    ASSERT_LE(quotient_error(Fp32(), a, b), 0.751) << std::hex << a << " / " << b << ", seed " << kSeed;
  }
}

TEST(N19Divide, NeedsEachOperation) {
  const auto values = dividends();
  for (unsigned dropped = 0; dropped < 29; ++dropped) {
    bool seen = false;
    for (std::size_t i = 0; i < values.size() && !seen; ++i)
      for (std::size_t j = 0; j < values.size() && !seen; ++j)
        seen = quotient_error(Dropping(dropped), values[i], values[j]) > 0.751;
    EXPECT_TRUE(seen) << "without operation " << dropped;
  }
}

TEST(N19Divide, MidrangeHasTheBitsOfTheFullFunction) {
  Dice dice(25);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto sign = static_cast<std::uint32_t>(dice.bits()) & 0x80000000U;
    const std::uint32_t a = sign | dice.between(bits::power(-60), bits::power(60)),
                        b = dice.between(bits::power(-60), bits::power(60));
    Fp32 p;
    ASSERT_EQ(divide_midrange(p, a, b), divide(p, a, b)) << std::hex << a << " / " << b;
  }
}

TEST(N19Divide, ArraysHaveTheSameBits) {
  Dice dice(26);
  std::vector<float> a(10'007), b(a.size()), out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = fp32_from_bits(static_cast<std::uint32_t>(dice.bits()));
    b[i] = fp32_from_bits(static_cast<std::uint32_t>(dice.bits()));
  }
  divide(a.data(), b.data(), out.data(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(bits_of_fp32(out[i]), bits_of_fp32(divide(a[i], b[i])));
}

/// Significands of 24 bits whose quotient lies nearer to the middle between two fp32 than the error of divide_midrange
/// before its last rounding can be. With y = 1 / b (1 + e), |e| <= 2^-24, and a first quotient within 1.5 units, what
/// is rounded is off by 1.5 e < 2^-23.4 units; a quotient A 2^s / B is |j| / 2B units from a middle, j an integer, B <
/// 2^24. So only |j| < 3 can go wrong, and each such pair is found by an inverse modulo a power of two.
template <class Visit> void each_hard_quotient(std::uint32_t divisor, Visit visit) {
  std::uint64_t odd = divisor, twos = 1;
  while (odd % 2 == 0) {
    odd /= 2;
    twos *= 2;
  }
  std::uint64_t inverse = odd;
  for (int i = 0; i < 5; ++i)
    inverse *= 2 - odd * inverse;
  for (const int j : {-2, -1, 1, 2}) {
    if (static_cast<std::uint64_t>(j < 0 ? -j : j) % twos != 0) continue;
    const std::uint64_t target =
        0 - static_cast<std::uint64_t>(static_cast<std::int64_t>(j) / static_cast<std::int64_t>(twos));
    for (const unsigned s : {24U, 25U}) { // A 2^s - M B = j, where M / 2 is a middle
      const std::uint64_t modulus = (std::uint64_t{1} << s) / twos;
      for (std::uint64_t m = target * inverse % modulus; m < std::uint64_t{1} << 25U; m += modulus) {
        const std::uint64_t a = (m * divisor + static_cast<std::uint64_t>(static_cast<std::int64_t>(j))) >> s;
        if (m % 2 == 1 && m > 1U << 24U && a >= 1U << 23U && a < 1U << 24U) visit(static_cast<std::uint32_t>(a));
      }
    }
  }
}

TEST(N19Divide, HardQuotientsAreRoundedCorrectly) {
  std::uint64_t quotients = 0, wrong = 0;
  for (std::uint32_t divisor = 1U << 23U; divisor < 1U << 24U; ++divisor)
    each_hard_quotient(divisor, [&](std::uint32_t dividend) {
      const std::uint32_t a = dividend - (1U << 23U) + bits::kOne, b = divisor - (1U << 23U) + bits::kOne;
      Fp32 p;
      ++quotients;
      wrong += divide_midrange(p, a, b) != machine_quotient(a, b) ? 1 : 0;
    });
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(quotients, 1'000'000U);
  RecordProperty("quotients", std::to_string(quotients));
}

} // namespace
} // namespace gradweave::functions
