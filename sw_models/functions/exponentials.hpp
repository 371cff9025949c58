// exp, log, tanh, erf and sigmoid as sequences of the operations of N18: clause N19 of docs/numerics.md.
// Constants are fp32 bit patterns; scripts/minimax.py finds those that are no plain numbers.
#pragma once

#include "sw_models/functions/roots.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gradweave::functions {

namespace bits {
inline constexpr std::uint32_t kRounder = 0x4B400000U; ///< 1.5 * 2^23: a sum with it is an integer, in its low bits
inline constexpr std::uint32_t kLog2E = 0x3FB8AA3BU;
inline constexpr std::uint32_t kLn2 = 0x3F317218U;
inline constexpr std::uint32_t kLn2High = 0x3F317200U; ///< its products with integers below 2^15 are exact
inline constexpr std::uint32_t kLn2Low = 0x35BFBE8EU;
inline constexpr std::uint32_t kExpEnd = 0x42D00000U; ///< 104: e^-104 is +0, e^104 infinity
} // namespace bits

/// Horner's rule: ((c[0] x + c[1]) x + ...), one fma a coefficient after the first.
template <class P, std::size_t N>
typename P::Value polynomial(P &p, typename P::Value x, const std::array<std::uint32_t, N> &descending) {
  auto sum = p.constant(descending[0]);
  for (std::size_t i = 1; i < N; ++i)
    sum = p.fma(sum, x, p.constant(descending[i]));
  return sum;
}

/// mantissa * 2^n, where n is in the low 9 bits of `exponent`.
template <class P> struct Power {
  typename P::Value exponent;
  typename P::Value mantissa;
};

/// 2^shift e^x for |x| at most 132. `rounder` is kRounder + shift. 10 operations.
template <class P> Power<P> exp_parts(P &p, typename P::Value x, typename P::Value rounder) {
  const auto exponent = p.fma(x, p.constant(bits::kLog2E), rounder);
  const auto n = p.add(exponent, p.neg(rounder));
  auto r = p.fma(p.neg(n), p.constant(bits::kLn2High), x);
  r = p.fma(p.neg(n), p.constant(bits::kLn2Low), r);
  return {exponent,
          polynomial<P, 7>(p, r,
                           {0x3AB525AEU, 0x3C091CCCU, 0x3D2AAC59U, 0x3E2AAA49U, 0x3EFFFFFEU, bits::kOne, bits::kOne})};
}

/// Where the power is a normal number: its exponent is added to the mantissa's bits. 2 operations.
template <class P> typename P::Value scaled(P &p, const Power<P> &power) {
  return p.iadd(power.mantissa, p.shl(power.exponent, 23));
}

/// 2^64 e^x for -132 <= x <= 44: normal numbers, which times 2^-64 are e^x, rounded once where that is subnormal. 12
/// operations.
template <class P> typename P::Value exp_raised(P &p, typename P::Value x) {
  return scaled(p, exp_parts(p, x, p.constant(bits::kRounder + 64)));
}

/// e^x for -132 <= x <= 44.
template <class P> typename P::Value exp_midrange(P &p, typename P::Value x) {
  return p.mul(exp_raised(p, x), p.constant(bits::power(-64)));
}

/// e^x for x <= 44: what is below -104 gives +0.
template <class P> typename P::Value exp_below(P &p, typename P::Value x) {
  return exp_midrange(p, p.max(x, p.constant(bits::kExpEnd | bits::kSign)));
}

/// e^x: overflows to infinity, underflows through subnormals to +0. Computed 2^64 times as large below 0, as small
/// above, so that the last product rounds what is no normal number.
template <class P> typename P::Value exp(P &p, typename P::Value x) {
  const auto clamped = p.min(p.max(x, p.constant(bits::kExpEnd | bits::kSign)), p.constant(bits::kExpEnd));
  const auto rounder = p.select(x, p.constant(bits::kRounder + 64), p.constant(bits::kRounder - 64));
  const auto back = p.select(x, p.constant(bits::power(-64)), p.constant(bits::power(64)));
  return p.mul(scaled(p, exp_parts(p, clamped, rounder)), back);
}

/// log(x) for 2^-126 <= x < infinity. `bias` is added to the exponent of 2 and kRounder, as floats.
template <class P> typename P::Value log_parts(P &p, typename P::Value x, typename P::Value bias) {
  // x = 2^k m with m in [2/3, 4/3)
  const auto exponent = p.band(p.isub(x, p.constant(0x3F2AAAABU)), p.constant(0xFF800000U));
  const auto k = p.add(p.iadd(p.sra(exponent, 23), p.constant(bits::kRounder)), bias);
  const auto f = p.add(p.isub(x, exponent), p.constant(bits::kMinusOne));
  const auto r = polynomial<P, 8>(
      p, f, {0x3E0F9242U, 0xBE1D8767U, 0x3E0F54A2U, 0xBE281C3DU, 0x3E4CE9D4U, 0xBE800A28U, 0x3EAAAA7EU, 0xBEFFFFEBU});
  return p.fma(k, p.constant(bits::kLn2), p.fma(r, p.mul(f, f), f));
}

/// log(x) for 2^-126 <= x < infinity.
template <class P> typename P::Value log_midrange(P &p, typename P::Value x) {
  return log_parts(p, x, p.neg(p.constant(bits::kRounder)));
}

/// log(x): +-0 gives -infinity, less than 0 NaN. What is special enters as the exponent.
template <class P> typename P::Value log(P &p, typename P::Value x) {
  const auto small = p.lt(x, p.constant(bits::power(-126)));
  const auto normal = p.mul(x, p.select(small, p.constant(bits::power(23)), p.constant(bits::kOne)));
  auto bias = p.select(small, p.constant(0xCB400017U), p.constant(bits::kRounder | bits::kSign)); // 23 more
  bias = p.select(x, p.constant(bits::kNan), bias);
  bias = p.select(p.eq(x, p.constant(0)), p.constant(bits::kInfinity | bits::kSign), bias);
  bias = p.select(p.lt(x, p.constant(bits::kInfinity)), bias, x);
  return log_parts(p, normal, bias);
}

/// 1 / (1 + e^-x): with e = e^-|x| and y = 1 / (1 + e), it is y or e y. The last step takes 1 - (1 + e) y as (1 - y) -
/// e y, so that the rounding of 1 + e is gone, and rounds once.
template <class P> typename P::Value sigmoid(P &p, typename P::Value x) {
  const auto one = p.constant(bits::kOne), back = p.constant(bits::power(-64));
  const auto raised = exp_raised(p, p.neg(p.min(p.abs(x), p.constant(bits::kExpEnd))));
  const auto e = p.mul(raised, back);
  const auto sum = p.add(one, e);
  auto y = p.isub(p.constant(kReciprocalGuess), sum);
  y = p.fma(y, p.fma(p.neg(sum), y, one), y);
  y = p.fma(y, p.fma(p.neg(sum), y, p.constant(kReciprocalAim)), y); // y is not below: 1 - y is exact
  const auto correction = p.mul(y, p.fma(p.neg(e), y, p.add(one, p.neg(y))));
  const auto numerator = p.select(x, raised, one);
  const auto quotient = p.fma(numerator, y, p.mul(numerator, correction));
  return p.mul(quotient, p.select(x, back, one));
}

/// tanh(x): x + x^3 P(x^2) up to 0.65, 1 - 2 / (1 + e^2|x|) with x's sign from there.
template <class P> typename P::Value tanh(P &p, typename P::Value x) {
  const auto one = p.constant(bits::kOne);
  const auto clamped = p.min(p.abs(x), p.constant(0x41200000U)); // 10
  const auto rounder = p.constant(bits::kRounder), two_log2e = p.constant(bits::kLog2E + 0x00800000U);
  const auto exponent = p.fma(clamped, two_log2e, rounder);
  const auto f = p.fma(clamped, two_log2e, p.neg(p.add(exponent, p.neg(rounder))));
  const auto mantissa = polynomial<P, 7>(
      p, f, {0x3920BB62U, 0x3AAF84B3U, 0x3C1D96EBU, 0x3D6357BDU, 0x3E75FDEEU, 0x3F317218U, bits::kOne});
  const auto y = reciprocal_midrange(p, p.add(scaled<P>(p, {exponent, mantissa}), one));
  const auto tail = p.fma(p.constant(0xC0000000U), y, one);
  const auto square = p.mul(x, x);
  const auto q = polynomial<P, 5>(p, square, {0xBBB4B587U, 0x3CA7AEC4U, 0xBD5BE7DCU, 0x3E0881F8U, 0xBEAAAA92U});
  const auto centre = p.fma(p.fma(q, square, p.constant(0)), x, x); // + 0: of -0 the cube is +0, and the sum -0
  const auto signed_tail = p.select(x, p.neg(tail), tail);
  return p.select(p.lt(p.constant(0x3F266666U), p.abs(x)), signed_tail, centre);
}

/// erf(x): x + x P(x^2) up to 0.875, 1 - e^(-|x| + |x| Q(|x|)) with x's sign from there.
template <class P> typename P::Value erf(P &p, typename P::Value x) {
  const auto t = p.min(p.abs(x), p.constant(0x40800000U)); // 4
  const auto q = polynomial<P, 6>(p, t, {0x39615B47U, 0xBB53344CU, 0x3CBBB892U, 0xBDD7A85FU, 0xBF22BC6FU, 0xBE039BAAU});
  const auto v = p.fma(q, t, p.neg(t));
  const auto exponent = p.fma(v, p.constant(bits::kLog2E), p.constant(bits::kRounder));
  const auto n = p.add(exponent, p.neg(p.constant(bits::kRounder)));
  const auto r = p.fma(p.neg(n), p.constant(bits::kLn2), v);
  const auto mantissa =
      polynomial<P, 7>(p, r, {0x3AB525AEU, 0x3C091CCCU, 0x3D2AAC59U, 0x3E2AAA49U, 0x3EFFFFFEU, bits::kOne, bits::kOne});
  const auto tail = p.add(p.constant(bits::kOne), p.neg(scaled<P>(p, {exponent, mantissa})));
  const auto centre = p.fma(
      polynomial<P, 6>(p, p.mul(x, x), {0xBA206B0CU, 0x3BA458B2U, 0xBCDB60E8U, 0x3DE70EB8U, 0xBEC09379U, 0x3E0375D3U}),
      x, x);
  const auto signed_tail = p.select(x, p.neg(tail), tail);
  return p.select(p.lt(p.constant(0x3F600000U), p.abs(x)), signed_tail, centre);
}

} // namespace gradweave::functions
