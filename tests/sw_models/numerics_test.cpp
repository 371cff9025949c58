// The numeric contract: each test names the clause of docs/numerics.md that it checks.
#include "base/random/dice.hpp"
#include "base/random/random_data.hpp"
#include "sw_models/numerics/numerics.hpp"
#include "tests/sw_models/bf16_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gradweave {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
std::uint32_t mac_bits(std::uint16_t a, std::uint16_t b, std::uint32_t c) {
  return bits_of_fp32(mac(a, b, fp32_from_bits(c)));
}

TEST(N1Formats, Bf16IsTheUpperHalfOfFp32) {
  for (std::uint32_t b = 0; b < 65536; ++b)
    EXPECT_EQ(bits_of_fp32(fp32_from_bf16(static_cast<std::uint16_t>(b))), b << 16U);
}

TEST(N1Formats, WideningAndRoundingIsTheIdentityExceptForNans) {
  for (std::uint32_t b = 0; b < 65536; ++b) {
    const bool nan = is_nan_bits(b << 16U);
    EXPECT_EQ(bf16_from_fp32(fp32_from_bf16(static_cast<std::uint16_t>(b))), nan ? kBf16Nan : b);
  }
}

TEST(N2Nan, ThereIsOneOfEachFormat) {
  for (const std::uint32_t nan : {0x7F800001U, 0x7FC00000U, 0x7FFFFFFFU, 0xFF800001U, 0xFFC12345U, 0xFFFFFFFFU}) {
    EXPECT_EQ(bf16_from_fp32(fp32_from_bits(nan)), kBf16Nan) << std::hex << nan;
    EXPECT_EQ(mac_bits(kOne, kOne, nan), kFp32Nan) << std::hex << nan;
    const auto operand = static_cast<std::uint16_t>(nan >> 16U | 1U);
    EXPECT_EQ(mac_bits(operand, kPlusZero, 0), kFp32Nan);
    EXPECT_EQ(mac_bits(kOne, operand, 0), kFp32Nan);
  }
}

TEST(N2Nan, InvalidOperationsGiveIt) {
  EXPECT_EQ(mac_bits(kBf16Inf, kPlusZero, 0), kFp32Nan);
  EXPECT_EQ(mac_bits(kMinusZero, kBf16Inf, 0), kFp32Nan);
  EXPECT_EQ(mac_bits(kBf16Inf, kOne, bits_of_fp32(-kInf)), kFp32Nan);
  EXPECT_EQ(mac_bits(kBf16Inf, kMinusOne, bits_of_fp32(kInf)), kFp32Nan);
}

TEST(N2Nan, InfinitiesOtherwiseStay) {
  EXPECT_EQ(mac(kBf16Inf, kOne, 5.0F), kInf);
  EXPECT_EQ(mac(kBf16Inf, kMinusOne, -kInf), -kInf);
  EXPECT_EQ(mac(kOne, kOne, kInf), kInf);
}

TEST(N3Subnormals, AreKeptOnInputAndOutput) {
  EXPECT_EQ(mac_bits(kBf16Tiny, kOne, 0), 0x00010000U) << "bf16 subnormal times one";
  EXPECT_EQ(mac_bits(kOne, kPlusZero, 0x00000001U), 0x00000001U) << "fp32 subnormal accumulator";
  EXPECT_EQ(mac_bits(0x0080, 0x3F00, 0), 0x00400000U) << "smallest normal times one half";
  EXPECT_EQ(bf16_from_fp32(fp32_from_bits(0x00018000U)), 0x0002U) << "ties to even among subnormals";
  EXPECT_EQ(bf16_from_fp32(fp32_from_bits(0x007FFFFFU)), 0x0080U) << "rounds up into the normals";
}

TEST(N4Product, IsExactBeyondTheRangeOfFp32) {
  // max * max overflows fp32, but not the exact sum with an infinity of the other sign: it is that infinity.
  EXPECT_EQ(mac(kBf16Max, kBf16Max, -kInf), -kInf);
  EXPECT_EQ(mac(kBf16Max, kBf16Max, 0.0F), kInf);
  // 2^-133 * 2^-133 is far below the smallest subnormal, yet decides a tie: 1 + tiny stays 1, and -0 - tiny is -0.
  EXPECT_EQ(mac(kBf16Tiny, kBf16Tiny, 1.0F), 1.0F);
  EXPECT_EQ(mac_bits(kBf16Tiny, kBf16MinusTiny, 0x80000000U), 0x80000000U);
}

TEST(N5Fused, RoundsOnce) {
  // a * b = 1 + 2^-6 + 2^-14: with c = 2^-30 the exact sum is rounded once.
  const std::uint16_t a = 0x3F81; // 1 + 2^-7
  const float exact_product = fp32_from_bf16(a) * fp32_from_bf16(a);
  EXPECT_EQ(mac(a, a, 0.0F), exact_product);
  EXPECT_EQ(mac(a, a, -exact_product), 0.0F);
  // Subnormal product: unfused arithmetic would round it to 24 bits at 2^-149 first.
  const std::uint16_t small = 0x2001;
  EXPECT_EQ(bits_of_fp32(mac(small, 0x1F81, 0.0F)),
            bits_of_fp32(std::fmaf(fp32_from_bf16(small), fp32_from_bf16(0x1F81), 0.0F)));
}

TEST(N5Fused, EqualsExactArithmeticInDoubleWhereThatIsExact) {
  Dice dice(11);
  for (int i = 0; i < 1'000'000; ++i) {
    // Exponents close together: product and sum fit into 53 bits, so the double is exact and is rounded once.
    const auto a = random_bf16({}, dice);
    const auto b = random_bf16({}, dice);
    const float c = fp32_from_bits(random_fp32({}, dice));
    const double exact = static_cast<double>(fp32_from_bf16(a)) * fp32_from_bf16(b) + c;
    ASSERT_EQ(bits_of_fp32(mac(a, b, c)), bits_of_fp32(static_cast<float>(exact)));
  }
}

TEST(N8Rounding, ToBf16IsNearestEven) {
  const auto round = [](std::uint32_t bits) { return bf16_from_fp32(fp32_from_bits(bits)); };
  EXPECT_EQ(round(0x3F807FFF), 0x3F80);
  EXPECT_EQ(round(0x3F808000), 0x3F80) << "tie to even";
  EXPECT_EQ(round(0x3F808001), 0x3F81);
  EXPECT_EQ(round(0x3F818000), 0x3F82) << "tie to even";
  EXPECT_EQ(round(0xBF818000), 0xBF82) << "sign symmetric";
  EXPECT_EQ(round(0x3FFFFFFF), 0x4000) << "carry into the exponent";
  EXPECT_EQ(round(0x7F7F7FFF), 0x7F7F);
  EXPECT_EQ(round(0x7F7F8000), 0x7F80) << "overflow gives infinity";
  EXPECT_EQ(round(0xFF7FFFFF), 0xFF80);
  EXPECT_EQ(round(0x00000000), 0x0000);
  EXPECT_EQ(round(0x80000000), 0x8000);
  EXPECT_EQ(round(0x80000001), 0x8000) << "underflow keeps the sign";
}

TEST(N8Rounding, ToBf16PicksTheNearerNeighbour) {
  Dice dice(12);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(dice.bits());
    const float f = fp32_from_bits(bits);
    if (!std::isfinite(f) || (bits & 0x7FFF0000U) == 0x7F7F0000U) continue;
    const std::uint32_t down = bits & 0xFFFF0000U;
    const std::uint32_t up = down + 0x10000U;
    const double to_down = std::fabs(double{f} - double{fp32_from_bits(down)});
    const double to_up = std::fabs(double{fp32_from_bits(up)} - double{f});
    const bool goes_up = to_up < to_down || (to_up == to_down && (down >> 16U & 1U) != 0);
    ASSERT_EQ(bf16_from_fp32(f), (goes_up ? up : down) >> 16U) << std::hex << bits;
  }
}

TEST(N11Bubbles, AProductOfMinusZeroLeavesEveryAccumulator) {
  for (const std::uint32_t c : {0x00000000U, 0x80000000U, 0x00000001U, 0x80000001U, 0x3F800000U, 0x7F7FFFFFU,
                                0x7F800000U, 0xFF800000U, kFp32Nan}) {
    EXPECT_EQ(mac_bits(kMinusZero, kPlusZero, c), c) << std::hex << c;
  }
  EXPECT_EQ(mac_bits(kPlusZero, kPlusZero, 0x80000000U), 0x00000000U) << "why padding with +0 x +0 would be wrong";
}

TEST(N11Bubbles, SignsOfZero) {
  EXPECT_EQ(mac_bits(kOne, kMinusZero, 0x00000000U), 0x00000000U) << "+0 stays when -0 is added";
  EXPECT_EQ(mac_bits(kOne, kMinusOne, 0x3F800000U), 0x00000000U) << "cancellation gives +0";
  EXPECT_EQ(mac_bits(kBf16Tiny, kBf16MinusTiny, 0x00000000U), 0x80000000U) << "underflow from below gives -0";
}

} // namespace
} // namespace gradweave
