// The functions of N19 as types that tests run over: sequence, batch, double-precision reference, bounds and length.
#pragma once

#include "sw_models/functions/functions.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace gradweave::functions {

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// |got - exact| in units of got's last place at `exact` (2^-149 below 2^-126). Infinite where a special value is
/// wrong, a NaN not the canonical one, or a sign another. An overflow counts as 2^128, which is where infinity rounds
/// from.
inline double error_in_ulp(double exact, std::uint32_t got) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  const double value = fp32_from_bits(got);
  if (exact != exact) return got == kFp32Nan ? 0 : kWrong;
  if (std::signbit(exact) != std::signbit(value) || value != value) return kWrong;
  if (exact == 0 || std::isinf(exact)) return value == exact ? 0 : kWrong;
  const double finite = std::isinf(value) ? std::copysign(0x1p128, value) : value;
  if (std::isinf(value) && std::fabs(exact) >= 0x1p128) return 0;
  return std::fabs(finite - exact) / std::ldexp(1, std::max(std::ilogb(exact), -126) - 23);
}

struct ReciprocalCase {
  static constexpr const char *kName = "reciprocal";
  static constexpr const char *kBits = "64671c87e0bd22123c1e4446b82083b7";
  static constexpr unsigned kOperations = 14;
  static constexpr double kBound = 0.751;
  static constexpr bool kOdd = true;
  static constexpr bool kRising = false;
  static constexpr std::uint64_t kDescents = 0;
  static double exact(double x) { return 1 / x; }
  template <class P> static typename P::Value apply(P &p, typename P::Value x) { return reciprocal(p, x); }
  static void batch(const float *in, float *out, std::size_t count) { reciprocal(in, out, count); }
};

struct RsqrtCase {
  static constexpr const char *kName = "rsqrt";
  static constexpr const char *kBits = "9abfc6f2f7d01ae0597681dcd0680103";
  static constexpr unsigned kOperations = 23;
  static constexpr double kBound = 0.507;
  static constexpr bool kOdd = false;
  static constexpr bool kRising = false;
  static constexpr std::uint64_t kDescents = 0;
  static double exact(double x) {
    if (x < 0) return kNoNumber;
    return x == 0 ? 1 / x : 1 / std::sqrt(x);
  }
  template <class P> static typename P::Value apply(P &p, typename P::Value x) { return rsqrt(p, x); }
  static void batch(const float *in, float *out, std::size_t count) { rsqrt(in, out, count); }
};

struct SqrtCase {
  static constexpr const char *kName = "sqrt";
  static constexpr const char *kBits = "ed94e6cb1bc57d4e39321195839e7d2e";
  static constexpr unsigned kOperations = 22;
  static constexpr double kBound = 0.5;
  static constexpr bool kOdd = false;
  static constexpr bool kRising = true;
  static constexpr std::uint64_t kDescents = 0;
  static double exact(double x) { return x < 0 ? kNoNumber : std::sqrt(x); }
  template <class P> static typename P::Value apply(P &p, typename P::Value x) { return sqrt(p, x); }
  static void batch(const float *in, float *out, std::size_t count) { sqrt(in, out, count); }
};

struct ExpCase {
  static constexpr const char *kName = "exp";
  static constexpr const char *kBits = "79f7ff788debef8a6eeb7d7966e633b2";
  static constexpr unsigned kOperations = 17;
  static constexpr double kBound = 0.9;
  static constexpr bool kOdd = false;
  static constexpr bool kRising = true;
  static constexpr std::uint64_t kDescents = 2912;
  static double exact(double x) { return std::exp(x); }
  template <class P> static typename P::Value apply(P &p, typename P::Value x) { return exp(p, x); }
  static void batch(const float *in, float *out, std::size_t count) { exp(in, out, count); }
};

struct LogCase {
  static constexpr const char *kName = "log";
  static constexpr const char *kBits = "a1b540703dac15334e1c08fafcfbed06";
  static constexpr unsigned kOperations = 26;
  static constexpr double kBound = 1.1;
  static constexpr bool kOdd = false;
  static constexpr bool kRising = true;
  static constexpr std::uint64_t kDescents = 0;
  static double exact(double x) { return std::log(x); }
  template <class P> static typename P::Value apply(P &p, typename P::Value x) { return log(p, x); }
  static void batch(const float *in, float *out, std::size_t count) { log(in, out, count); }
};

struct TanhCase {
  static constexpr const char *kName = "tanh";
  static constexpr const char *kBits = "dc6797b1b822f012b61add552fe0e5d2";
  static constexpr unsigned kOperations = 31;
  static constexpr double kBound = 1.6;
  static constexpr bool kOdd = true;
  static constexpr bool kRising = true;
  static constexpr std::uint64_t kDescents = 0;
  static double exact(double x) {
    if (std::fabs(x) < 0x1p-12) return x * (1 - x * x / 3);
    return std::fabs(x) > 10 ? std::copysign(1, x) : std::tanh(x);
  }
  template <class P> static typename P::Value apply(P &p, typename P::Value x) { return tanh(p, x); }
  static void batch(const float *in, float *out, std::size_t count) { tanh(in, out, count); }
};

struct ErfCase {
  static constexpr const char *kName = "erf";
  static constexpr const char *kBits = "38be23ef5248278169229f6ed8ceead9";
  static constexpr unsigned kOperations = 29;
  static constexpr double kBound = 1.1;
  static constexpr bool kOdd = true;
  static constexpr bool kRising = true;
  static constexpr std::uint64_t kDescents = 0;
  static double exact(double x) {
    constexpr double kSlope = 1.1283791670955126; // 2 / sqrt(pi)
    if (std::fabs(x) < 0x1p-12) return kSlope * x * (1 - x * x / 3);
    return std::fabs(x) > 5 ? std::copysign(1, x) : std::erf(x);
  }
  template <class P> static typename P::Value apply(P &p, typename P::Value x) { return erf(p, x); }
  static void batch(const float *in, float *out, std::size_t count) { erf(in, out, count); }
};

struct SigmoidCase {
  static constexpr const char *kName = "sigmoid";
  static constexpr const char *kBits = "62dd248e5d8b38df46f5952ee4906087";
  static constexpr unsigned kOperations = 28;
  static constexpr double kBound = 1.6;
  static constexpr bool kOdd = false;
  static constexpr bool kRising = true;
  static constexpr std::uint64_t kDescents = 2706;
  static double exact(double x) {
    if (std::fabs(x) < 0x1p-25) return 0.5 + x / 4;
    if (std::fabs(x) > 800) return x > 0 ? 1 : 0;
    return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
  }
  template <class P> static typename P::Value apply(P &p, typename P::Value x) { return sigmoid(p, x); }
  static void batch(const float *in, float *out, std::size_t count) { sigmoid(in, out, count); }
};

struct SinCase {
  static constexpr const char *kName = "sin";
  static constexpr const char *kBits = "70deb17bedac4e5275d150a4a9d32d97";
  static constexpr unsigned kOperations = 20;
  static constexpr double kBound = 5.2;
  static constexpr bool kOdd = true;
  static constexpr bool kRising = true;
  static constexpr std::uint64_t kDescents = 0;
  static double exact(double x) { return std::fabs(x) > 0x1p22 ? kNoNumber : std::sin(x); }
  template <class P> static typename P::Value apply(P &p, typename P::Value x) { return sin(p, x); }
  static void batch(const float *in, float *out, std::size_t count) { sin(in, out, count); }
};

struct CosCase {
  static constexpr const char *kName = "cos";
  static constexpr const char *kBits = "34577f91efcc7a95515f039b29a97fd9";
  static constexpr unsigned kOperations = 21;
  static constexpr double kBound = 5.1;
  static constexpr bool kOdd = false;
  static constexpr bool kRising = true;
  static constexpr std::uint64_t kDescents = 0;
  static double exact(double x) { return std::fabs(x) > 0x1p22 ? kNoNumber : std::cos(x); }
  template <class P> static typename P::Value apply(P &p, typename P::Value x) { return cos(p, x); }
  static void batch(const float *in, float *out, std::size_t count) { cos(in, out, count); }
};

struct AtanCase {
  static constexpr const char *kName = "atan";
  static constexpr const char *kBits = "5a835a3effdf9263c39d35951f540034";
  static constexpr unsigned kOperations = 25;
  static constexpr double kBound = 1.9;
  static constexpr bool kOdd = true;
  static constexpr bool kRising = true;
  static constexpr std::uint64_t kDescents = 0;
  static double exact(double x) { return std::fabs(x) < 0x1p-12 ? x * (1 - x * x / 3) : std::atan(x); }
  template <class P> static typename P::Value apply(P &p, typename P::Value x) { return atan(p, x); }
  static void batch(const float *in, float *out, std::size_t count) { atan(in, out, count); }
};

struct RoundCase {
  static constexpr const char *kName = "round";
  static constexpr const char *kBits = "f008865b32eccd3baf2726ed857516a4";
  static constexpr unsigned kOperations = 6;
  static constexpr double kBound = 0.5;
  static constexpr bool kOdd = false; // a zero is +0
  static constexpr bool kRising = true;
  static constexpr std::uint64_t kDescents = 0;
  static double exact(double x) {
    const double whole = std::nearbyint(x);
    return whole == 0 ? 0 : whole;
  }
  template <class P> static typename P::Value apply(P &p, typename P::Value x) { return round(p, x); }
  static void batch(const float *in, float *out, std::size_t count) { round(in, out, count); }
};

/// Of what rises and falls by turns, no step goes the wrong way.
template <class Case> inline constexpr bool kTurns = std::is_same_v<Case, SinCase> || std::is_same_v<Case, CosCase>;

using Cases = testing::Types<ReciprocalCase, RsqrtCase, SqrtCase, ExpCase, LogCase, TanhCase, ErfCase, SigmoidCase,
                             SinCase, CosCase, AtanCase, RoundCase>;

struct CaseNames {
  template <class Case> static std::string GetName(int) { return Case::kName; }
};

} // namespace gradweave::functions
