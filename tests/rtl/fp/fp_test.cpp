// The hardware's arithmetic (rtl/core/gw_fp_pkg.sv) against native fmaf and addition: numerics.md clauses on product,
// rounding, NaN and ADD.
#include "Vfp_harness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

constexpr std::uint32_t kLanes = 256;
constexpr std::uint32_t kQuietNan = 0x7FC00000;

/// Operands of a multiply-add (a, b, c) and of an addition (c, d).
struct Operands {
  std::uint16_t a = 0, b = 0;
  std::uint32_t c = 0, d = 0;
};

float to_float(std::uint32_t bits) {
  float f = 0;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

std::uint32_t to_bits(float f) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}

std::uint32_t expected_mac(const Operands &t) {
  float r = std::fmaf(to_float(std::uint32_t{t.a} << 16), to_float(std::uint32_t{t.b} << 16), to_float(t.c));
  return std::isnan(r) ? kQuietNan : to_bits(r);
}

std::uint32_t expected_add(const Operands &t) {
  float r = to_float(t.c) + to_float(t.d);
  return std::isnan(r) ? kQuietNan : to_bits(r);
}

/// Round to nearest even by comparing the two neighbours, not by the adder that the hardware uses.
std::uint32_t expected_bf16(std::uint32_t x) {
  if (std::isnan(to_float(x))) return 0x7FC0;
  std::uint32_t low = x & 0xFFFFU, down = x >> 16;
  if (low > 0x8000U || (low == 0x8000U && (down & 1U) != 0)) ++down;
  return down;
}

class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { // SplitMix64
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

private:
  std::uint64_t state_;
};

/// Runs operands through the hardware, a batch at a time, and compares.
class Checker {
public:
  void add(const Operands &t) {
    batch_[fill_++] = t;
    if (fill_ == kLanes) flush();
  }
  void flush() {
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      word(model_->a_i, i) = batch_[i].a;
      word(model_->b_i, i) = batch_[i].b;
      word(model_->c_i, i) = batch_[i].c;
      word(model_->d_i, i) = batch_[i].d;
    }
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
    for (std::uint32_t i = 0; i < fill_; ++i) {
      const Operands &t = batch_[i];
      std::uint32_t mac = word(model_->mac_o, i), sum = word(model_->add_o, i), bf16 = word(model_->bf16_o, i);
      if (mac != expected_mac(t) && ++bad_ <= 5)
        ADD_FAILURE() << fmt::format("a={:#06x} b={:#06x} c={:#010x}: rtl {:#010x}, fmaf {:#010x}", t.a, t.b, t.c, mac,
                                     expected_mac(t));
      if (sum != expected_add(t) && ++bad_ <= 5)
        ADD_FAILURE() << fmt::format("{:#010x} + {:#010x}: rtl {:#010x}, native {:#010x}", t.c, t.d, sum,
                                     expected_add(t));
      if (bf16 != expected_bf16(t.c) && ++bad_ <= 5)
        ADD_FAILURE() << fmt::format("bf16 of {:#010x}: rtl {:#06x}, expected {:#06x}", t.c, bf16, expected_bf16(t.c));
    }
    checked_ += fill_;
    fill_ = 0;
  }
  std::uint64_t checked() const { return checked_; }
  std::uint64_t bad() const { return bad_; }

private:
  template <typename Port> static std::uint32_t &word(Port &port, std::uint32_t i) {
    return reinterpret_cast<std::uint32_t *>(&port)[i];
  }
  std::unique_ptr<Vfp_harness> model_ = std::make_unique<Vfp_harness>();
  std::array<Operands, kLanes> batch_{};
  std::uint32_t fill_ = 0;
  std::uint64_t checked_ = 0, bad_ = 0;
};

/// Representatives of every class and every border of bf16.
std::vector<std::uint16_t> bf16_corners() {
  std::vector<std::uint16_t> v;
  for (unsigned sign : {0x0000U, 0x8000U})
    for (unsigned x : {0x0000U, 0x0001U, 0x0002U, 0x0003U, 0x0004U, 0x000FU, 0x0010U, 0x003FU, 0x0040U, 0x007FU,
                       0x0080U, 0x0081U, 0x00FFU, 0x1F80U, 0x2000U, 0x3E80U, 0x3F7FU, 0x3F80U, 0x3F81U, 0x3FFFU,
                       0x4000U, 0x4049U, 0x5F00U, 0x7E80U, 0x7F00U, 0x7F7FU, 0x7F80U, 0x7F81U, 0x7FC0U, 0x7FFFU})
      v.push_back(static_cast<std::uint16_t>(sign | x));
  return v;
}

std::vector<std::uint32_t> fp32_corners() {
  std::vector<std::uint32_t> v;
  for (unsigned sign : {0x00000000U, 0x80000000U})
    for (unsigned x :
         {0x00000000U, 0x00000001U, 0x00000002U, 0x00000003U, 0x00007FFFU, 0x00008000U, 0x00400000U, 0x007FFFFFU,
          0x00800000U, 0x00800001U, 0x00FFFFFFU, 0x01000000U, 0x0C800000U, 0x3F7FFFFFU, 0x3F800000U, 0x3F800001U,
          0x3F808000U, 0x3F818000U, 0x3FFFFFFFU, 0x4B000000U, 0x7E800000U, 0x7F000000U, 0x7F7F7FFFU, 0x7F7F8000U,
          0x7F7FFFFFU, 0x7F800000U, 0x7F800001U, 0x7FBFFFFFU, 0x7FC00000U, 0x7FC00001U, 0x7FFFFFFFU})
      v.push_back(sign | x);
  return v;
}

/// A second addend for c of one of the shapes that break adders; `kind` picks it.
std::uint32_t directed_addend(Random &rng, std::uint32_t c, unsigned kind) {
  const std::uint64_t r = rng.next();
  const auto d = static_cast<std::uint32_t>(r);
  const auto near = static_cast<std::uint32_t>(r >> 32);
  switch (kind % 6) {
  case 0: // any bits
    return d;
  case 1: // exact or nearly exact cancellation
    return (c ^ 0x80000000U) + near % 5 - 2;
  case 2: // exponents up to 31 apart: overlap, guard and sticky bits
    return (d & 0x807FFFFFU) | (((c >> 23) + near % 63 - 31) & 0xFFU) << 23;
  case 3: // halfway cases: one bit, at or below the rounding position of c
    return (d & 0x80000000U) | (((c >> 23) - 22 - near % 5) & 0xFFU) << 23;
  case 4: // subnormals and the overflow border
    return (near & 1U) != 0 ? d & 0x80FFFFFFU : d | 0x7F000000U;
  default: // zero, infinity, NaN
    return (d & 0x80000000U) | ((near & 1U) != 0 ? 0x7F800000U : 0U) | ((near & 6U) == 0 ? 1U : 0U);
  }
}

/// Operands of one of the shapes that break adders; `kind` picks it.
Operands directed(Random &rng, unsigned kind) {
  std::uint64_t r = rng.next(), s = rng.next();
  Operands t{static_cast<std::uint16_t>(r), static_cast<std::uint16_t>(r >> 16), static_cast<std::uint32_t>(r >> 32),
             0};
  float product = to_float(std::uint32_t{t.a} << 16) * to_float(std::uint32_t{t.b} << 16);
  switch (kind % 8) {
  case 0: // any bits
    break;
  case 1: // exponents near each other: full significand overlap
    t.a = static_cast<std::uint16_t>((t.a & 0x807FU) | ((96 + s % 64) << 7));
    t.b = static_cast<std::uint16_t>((t.b & 0x807FU) | ((96 + (s >> 8) % 64) << 7));
    t.c = (t.c & 0x807FFFFFU) | static_cast<std::uint32_t>(((64 + (s >> 16) % 128) & 0xFFU) << 23);
    break;
  case 2: // exact or nearly exact cancellation
    t.c = to_bits(-product) + static_cast<std::uint32_t>(s % 5) - 2;
    break;
  case 3: // product near the subnormal range
    t.a = static_cast<std::uint16_t>((t.a & 0x807FU) | ((s % 80) << 7));
    t.b = static_cast<std::uint16_t>((t.b & 0x807FU) | (((s >> 8) % 80) << 7));
    t.c = (t.c & 0x80FFFFFFU) >> ((s >> 16) % 24 == 0 ? 0 : 1);
    break;
  case 4: // halfway cases: c has a low bit just at the product's rounding position
    t.a = static_cast<std::uint16_t>((t.a & 0x8070U) | ((110 + s % 32) << 7));
    t.b = static_cast<std::uint16_t>((t.b & 0x8070U) | ((110 + (s >> 8) % 32) << 7));
    t.c = (t.c & 0x80000001U) | static_cast<std::uint32_t>(((115 + (s >> 16) % 48) & 0xFFU) << 23) |
          ((s >> 32) % 3 == 0 ? 0x007FFFFEU : 0U);
    break;
  case 5: // overflow border
    t.a = static_cast<std::uint16_t>((t.a & 0x807FU) | ((188 + s % 8) << 7));
    t.b = static_cast<std::uint16_t>((t.b & 0x807FU) | ((186 + (s >> 8) % 8) << 7));
    t.c = (t.c & 0x80FFFFFFU) | 0x7E000000U;
    break;
  case 6: // subnormal operands
    t.a = static_cast<std::uint16_t>(t.a & 0x807FU);
    t.c = (s & 1U) != 0 ? (t.c & 0x807FFFFFU) : t.c;
    break;
  default: // classes: zero, infinity, NaN in each place
    if ((s & 3U) == 1) t.a = static_cast<std::uint16_t>((t.a & 0x8000U) | ((s & 4U) != 0 ? 0x7F80U : 0U));
    if ((s & 24U) == 8) t.b = static_cast<std::uint16_t>((t.b & 0x8000U) | ((s & 32U) != 0 ? 0x7F80U : 0U));
    if ((s & 192U) == 64) t.c = (t.c & 0x80000000U) | ((s & 256U) != 0 ? 0x7F800000U : 0U);
    break;
  }
  t.d = directed_addend(rng, t.c, kind / 8);
  return t;
}

std::uint64_t from_env(const char *name, std::uint64_t otherwise) {
  const char *v = std::getenv(name);
  return v != nullptr ? std::strtoull(v, nullptr, 0) : otherwise;
}

void check_random(std::uint64_t count) {
  std::uint64_t seed = from_env("GW_SEED", 1);
  fmt::print("seed {} (GW_SEED), {} operands\n", seed, count);
  Random rng(seed);
  Checker checker;
  for (std::uint64_t i = 0; i < count; ++i)
    checker.add(directed(rng, static_cast<unsigned>(i)));
  checker.flush();
  EXPECT_EQ(checker.bad(), 0U);
  EXPECT_GE(checker.checked(), count);
}

TEST(FusedMultiplyAdd, EqualsFmafOnAllCornerTriples) {
  Checker checker;
  for (std::uint16_t a : bf16_corners())
    for (std::uint16_t b : bf16_corners())
      for (std::uint32_t c : fp32_corners())
        checker.add({a, b, c, 0});
  checker.flush();
  EXPECT_EQ(checker.bad(), 0U);
}

TEST(Addition, EqualsTheNativeOneOnAllCornerPairs) {
  Checker checker;
  for (std::uint32_t c : fp32_corners())
    for (std::uint32_t d : fp32_corners())
      checker.add({0, 0, c, d});
  checker.flush();
  EXPECT_EQ(checker.bad(), 0U);
}

TEST(Arithmetic, EqualsTheNativeOneOnAMillionOperands) { check_random(1'200'000); }

TEST(FusedMultiplyAdd, LeavesEveryAccumulatorAloneOnBubbles) {
  Checker checker;
  Random rng(from_env("GW_SEED", 1));
  for (std::uint32_t c : fp32_corners())
    checker.add({0x8000, 0x0000, c, 0});
  for (int i = 0; i < 100'000; ++i) {
    auto c = static_cast<std::uint32_t>(rng.next());
    Operands t{0x8000, 0x0000, c, 0};
    if (!std::isnan(to_float(c))) {
      ASSERT_EQ(expected_mac(t), c);
    }
    checker.add(t);
  }
  checker.flush();
  EXPECT_EQ(checker.bad(), 0U);
}

TEST(ArithmeticLong, EqualsTheNativeOneOnAHundredMillionOperands) { check_random(100'000'000); }

} // namespace
