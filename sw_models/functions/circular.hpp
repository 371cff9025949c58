// sin, cos and atan as sequences of the operations of N18: clause N19 of docs/numerics.md. Constants are fp32 bit
// patterns; scripts/minimax.py finds those that are no plain numbers.
#pragma once

#include "sw_models/functions/exponentials.hpp"

#include <cstdint>

namespace gradweave::functions {

namespace bits {
inline constexpr std::uint32_t kTwoOverPi = 0x3F22F983U;
/// pi / 2 in three parts, each of the same sign, so that of +-0 nothing but +-0 is left.
inline constexpr std::uint32_t kHalfPiHigh = 0x3FC90FDAU, kHalfPiMiddle = 0x33A22168U, kHalfPiLow = 0x27C234C4U;
inline constexpr std::uint32_t kTurnEnd = 0x4A800000U; ///< 2^22: beyond, fp32 numbers lie half a radian apart or more
} // namespace bits

/// x = n pi / 2 + rest: n in the low bits of `quarter`, |rest| at most pi / 4 and a little.
template <class P> struct Turn {
  typename P::Value quarter;
  typename P::Value rest;
};

/// For |x| up to 2^22; beyond, and of infinities, the rest is NaN. 7 operations. The first product is exact together
/// with its sum: n has at most 22 bits, and what is left is a multiple of 2^-23 below 1.
template <class P> Turn<P> turn_of(P &p, typename P::Value x) {
  const auto near = p.select(p.le(p.abs(x), p.constant(bits::kTurnEnd)), x, p.constant(bits::kNan));
  const auto quarter = p.fma(near, p.constant(bits::kTwoOverPi), p.constant(bits::kRounder));
  const auto n = p.add(quarter, p.neg(p.constant(bits::kRounder)));
  auto rest = p.fma(p.neg(n), p.constant(bits::kHalfPiHigh), near);
  rest = p.fma(p.neg(n), p.constant(bits::kHalfPiMiddle), rest);
  return {quarter, p.fma(p.neg(n), p.constant(bits::kHalfPiLow), rest)};
}

/// sin(quarter pi / 2 + rest): of the rest the sine, b + b r^2 S(r^2) with b = r, or in odd quarters the cosine, with b
/// = 1 and another polynomial; in the upper two of four quarters b has the other sign. 12 operations. `of_zero`: the
/// rest may be -0, whose sine is -0.
template <bool of_zero, class P>
typename P::Value sin_of_turn(P &p, typename P::Value quarter, typename P::Value rest) {
  const auto square = p.mul(rest, rest);
  const auto sine = polynomial<P, 3>(p, square, {0xB94CA97DU, 0x3C0883BBU, 0xBE2AAAA3U});
  const auto cosine = polynomial<P, 4>(p, square, {0x37CCF40DU, 0xBAB60614U, 0x3D2AAAA5U, 0xBF000000U});
  const auto odd = p.shl(quarter, 31);
  const auto positive = p.select(odd, p.constant(bits::kOne), rest);
  const auto base = p.select(p.shl(quarter, 30), p.neg(positive), positive);
  const auto factor = p.select(odd, cosine, sine);
  const auto share = of_zero ? p.fma(factor, square, p.constant(0)) : p.mul(factor, square); // + 0: the sum stays -0
  return p.fma(share, base, base);
}

/// sin(x); NaN beyond 2^22.
template <class P> typename P::Value sin(P &p, typename P::Value x) {
  const auto turn = turn_of(p, x);
  return sin_of_turn<true>(p, turn.quarter, turn.rest);
}

/// cos(x), which is the sine a quarter further; NaN beyond 2^22.
template <class P> typename P::Value cos(P &p, typename P::Value x) {
  const auto turn = turn_of(p, x);
  return sin_of_turn<false>(p, p.iadd(turn.quarter, p.constant(1)), turn.rest);
}

/// atan(x): u + u^3 P(u^2), u = x up to 1; beyond, pi / 2 - atan(1 / |x|) with x's sign.
template <class P> typename P::Value atan(P &p, typename P::Value x) {
  const auto high = p.min(p.abs(x), p.constant(bits::power(40)));
  const auto far = p.lt(p.constant(bits::kOne), high);
  const auto u = p.select(far, reciprocal_midrange(p, high), high);
  const auto square = p.mul(u, u);
  const auto q = polynomial<P, 9>(p, square,
                                  {0xBAEA662CU, 0x3C326E82U, 0xBCFF097FU, 0x3D6D3456U, 0xBDAC0BD1U, 0x3DE047F5U,
                                   0xBE12105EU, 0x3E4CC8F3U, 0xBEAAAA9FU});
  const auto angle = p.fma(p.mul(q, square), u, u);
  const auto beyond = p.add(p.constant(0x3FC90FDBU), p.neg(angle)); // pi / 2
  const auto positive = p.select(far, beyond, angle);
  return p.mul(positive, p.select(x, p.constant(bits::kMinusOne), p.constant(bits::kOne)));
}

} // namespace gradweave::functions
