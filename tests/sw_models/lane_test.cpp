// Clause N18: the operations of a lane, on all pairs of special values and on random bits.
#include "base/dice.hpp"
#include "sw_models/functions/fp32.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gradweave::functions {
namespace {

constexpr std::uint32_t kAllOnes = 0xFFFFFFFFU;

std::vector<std::uint32_t> lane_values() {
  std::vector<std::uint32_t> values;
  for (const std::uint32_t v : {0U, 1U, 0x007FFFFFU, 0x00800000U, 0x3F7FFFFFU, 0x3F800000U, 0x3F800001U, 0x7F7FFFFFU,
                                0x7F800000U, 0x7F800001U, 0x7FC00000U, 0x7FFFFFFFU})
    for (const std::uint32_t sign : {0U, 0x80000000U})
      values.push_back(v | sign);
  Dice dice(18);
  for (int i = 0; i < 60; ++i)
    values.push_back(static_cast<std::uint32_t>(dice.bits()));
  return values;
}

/// Sign-magnitude as an integer that is ordered as the reals are, -0 just below +0.
std::int64_t order_of(std::uint32_t v) {
  const auto magnitude = static_cast<std::int64_t>(v & 0x7FFFFFFFU);
  return (v >> 31U) != 0 ? -magnitude - 1 : magnitude;
}

TEST(N18Lane, MinimumAndMaximumOrderZerosAndPassNans) {
  for (const std::uint32_t a : lane_values())
    for (const std::uint32_t b : lane_values()) {
      const bool nan = is_nan_bits(a) || is_nan_bits(b);
      const bool less = order_of(a) < order_of(b);
      ASSERT_EQ(Fp32::min(a, b), nan ? kFp32Nan : less ? a : b) << std::hex << a << ' ' << b;
      ASSERT_EQ(Fp32::max(a, b), nan ? kFp32Nan : less ? b : a) << std::hex << a << ' ' << b;
    }
}

TEST(N18Lane, ComparisonsAreFalseWithNansAndTakeZerosAsEqual) {
  for (const std::uint32_t a : lane_values())
    for (const std::uint32_t b : lane_values()) {
      const bool nan = is_nan_bits(a) || is_nan_bits(b);
      const bool equal = !nan && (a == b || ((a | b) << 1U) == 0);
      const bool less = !nan && !equal && order_of(a) < order_of(b);
      ASSERT_EQ(Fp32::lt(a, b), less ? kAllOnes : 0) << std::hex << a << ' ' << b;
      ASSERT_EQ(Fp32::le(a, b), less || equal ? kAllOnes : 0) << std::hex << a << ' ' << b;
      ASSERT_EQ(Fp32::eq(a, b), equal ? kAllOnes : 0) << std::hex << a << ' ' << b;
    }
}

TEST(N18Lane, ArithmeticRoundsOnceAndHasOneNan) {
  for (const std::uint32_t a : lane_values())
    for (const std::uint32_t b : lane_values()) {
      const float x = fp32_from_bits(a), y = fp32_from_bits(b);
      ASSERT_EQ(Fp32::add(a, b), bits_of_fp32(canonical(x + y))) << std::hex << a << ' ' << b;
      ASSERT_EQ(Fp32::mul(a, b), bits_of_fp32(canonical(x * y))) << std::hex << a << ' ' << b;
      for (const std::uint32_t c : {0U, 0x80000000U, 0x7F800000U, 0xFF800001U, a, b ^ 0x80000000U})
        ASSERT_EQ(Fp32::fma(a, b, c), bits_of_fp32(canonical(std::fmaf(x, y, fp32_from_bits(c)))));
    }
}

TEST(N18Lane, ProductsOfAnFmaAreNotRounded) {
  const std::uint32_t a = 0x3F800001U; // 1 + 2^-23: its square has a last bit of 2^-46
  EXPECT_EQ(Fp32::fma(a, a, Fp32::neg(Fp32::mul(a, a))), 0x28800000U);
  EXPECT_EQ(Fp32::fma(0x00000001U, 0x3F000000U, 0x00000001U), 0x00000002U) << "1.5 units: a tie, to even";
}

TEST(N18Lane, MulIsTheFmaWithMinusZero) {
  for (const std::uint32_t a : lane_values())
    for (const std::uint32_t b : lane_values())
      ASSERT_EQ(Fp32::mul(a, b), Fp32::fma(a, b, 0x80000000U)) << std::hex << a << ' ' << b;
}

TEST(N18Lane, SelectLooksAtTheSignAndKeepsBits) {
  EXPECT_EQ(Fp32::select(0x80000000U, 0xFF812345U, 7U), 0xFF812345U)
      << "a NaN is not made canonical: nothing is computed";
  EXPECT_EQ(Fp32::select(0x7FFFFFFFU, 0xFF812345U, 7U), 7U);
  EXPECT_EQ(Fp32::select(kAllOnes, 3U, 7U), 3U);
  EXPECT_EQ(Fp32::select(0U, 3U, 7U), 7U);
}

TEST(N18Lane, IntegersWrapAndShift) {
  EXPECT_EQ(Fp32::iadd(kAllOnes, 2U), 1U);
  EXPECT_EQ(Fp32::isub(0U, 1U), kAllOnes);
  for (const std::uint32_t a : lane_values())
    for (unsigned by = 0; by < 32; ++by) {
      ASSERT_EQ(Fp32::shl(a, by), static_cast<std::uint32_t>(std::uint64_t{a} << by));
      ASSERT_EQ(Fp32::shr(a, by), a / (std::uint64_t{1} << by));
      const auto wide = static_cast<std::int64_t>(static_cast<std::int32_t>(a));
      const auto unit = std::int64_t{1} << by;
      ASSERT_EQ(Fp32::sra(a, by), static_cast<std::uint32_t>((wide - (wide % unit + unit) % unit) / unit))
          << a << " by " << by;
    }
}

TEST(N18Lane, ConversionIsTheRoundingOfN8) {
  for (const std::uint32_t a : lane_values())
    EXPECT_EQ(Fp32::to_bf16(a), std::uint32_t{bf16_from_fp32(fp32_from_bits(a))} << 16U);
}

} // namespace
} // namespace gradweave::functions
