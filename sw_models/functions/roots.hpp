// Reciprocal, quotient, square root and its reciprocal as sequences of the operations of N18: clause N19 of
// docs/numerics.md. Constants are fp32 bit patterns; scripts/minimax.py finds those that are no plain numbers.
//
// A function takes any fp32. What ends in _midrange is its core: fewer operations and the same bits where its comment
// says.
#pragma once

#include <cstdint>

namespace gradweave::functions {

namespace bits {
inline constexpr std::uint32_t kHalf = 0x3F000000U;
inline constexpr std::uint32_t kOne = 0x3F800000U;
inline constexpr std::uint32_t kMinusOne = 0xBF800000U;
inline constexpr std::uint32_t kSign = 0x80000000U;
inline constexpr std::uint32_t kInfinity = 0x7F800000U;
inline constexpr std::uint32_t kNan = 0x7FC00000U;

/// 2^exponent, from -126 to 127.
constexpr std::uint32_t power(int exponent) { return static_cast<std::uint32_t>(exponent + 127) << 23U; }
} // namespace bits

inline constexpr std::uint32_t kReciprocalGuess = 0x7EF311C2U; ///< less the bits of x, 1 / x within 5.1 %

/// 1 + 55 * 2^-23. The second step aims above 1 / x by as much as it falls short where the guess is worst, at powers of
/// two. Just below these, where 1 / x lies near the middle of two fp32, the last step then begins within a unit in the
/// last place, and divide_midrange needs that to round all quotients correctly.
inline constexpr std::uint32_t kReciprocalAim = 0x3F800037U;

/// 1 / x for 2^-126 <= |x| < 2^125; |error| is what is left of 1 - x y before the last step.
template <class P> struct Reciprocal {
  typename P::Value value;
  typename P::Value error;
};

/// 7 operations: a first guess by exponent and slope, within 5.1 %, and three steps that each square the error.
template <class P> Reciprocal<P> reciprocal_steps(P &p, typename P::Value x) {
  const auto one = p.constant(bits::kOne);
  auto y = p.isub(p.constant(kReciprocalGuess), x);
  y = p.fma(y, p.fma(p.neg(x), y, one), y);
  y = p.fma(y, p.fma(p.neg(x), y, p.constant(kReciprocalAim)), y);
  const auto error = p.fma(p.neg(x), y, one);
  return {p.fma(y, error, y), error};
}

/// 1 / x for 2^-126 <= |x| < 2^125.
template <class P> typename P::Value reciprocal_midrange(P &p, typename P::Value x) {
  return reciprocal_steps(p, x).value;
}

/// Where the steps did not come near to 1 / x, which is at 0, infinity and NaN, what 1 / x is there.
template <class P> typename P::Value reciprocal_or_special(P &p, typename P::Value x) {
  const auto steps = reciprocal_steps(p, x);
  const auto near = p.lt(p.abs(steps.error), p.constant(bits::kOne));
  return p.select(near, steps.value, p.isub(p.constant(bits::kInfinity), x));
}

/// 1 / x: +-0 gives +-infinity, +-infinity +-0.
template <class P> typename P::Value reciprocal(P &p, typename P::Value x) {
  const auto small = p.lt(p.abs(x), p.constant(bits::kOne));
  const auto scale = p.select(small, p.constant(bits::power(40)), p.constant(bits::power(-40)));
  return p.mul(reciprocal_or_special(p, p.mul(x, scale)), scale);
}

/// a / b for |a| and |b| from 2^-60 to 2^60, and a = +-0, rounded correctly: y = 1 / b, and one step from a y that
/// takes the exact remainder, with the sign that leaves a zero its own.
template <class P> typename P::Value divide_midrange(P &p, typename P::Value a, typename P::Value b) {
  const auto y = reciprocal_midrange(p, b);
  const auto quotient = p.mul(a, y);
  return p.fma(p.neg(p.fma(b, quotient, p.neg(a))), y, quotient);
}

/// What brings an operand's magnitude to [2^-79, 2^72]: 2^70 below 2^-30, 2^-56 above 2^30, else 1.
template <class P> struct Range {
  typename P::Value small;
  typename P::Value large;
};
template <class P> Range<P> range_of(P &p, typename P::Value x) {
  const auto small = p.lt(p.abs(x), p.constant(bits::power(-30)));
  return {small, p.lt(p.constant(bits::power(30)), p.abs(x))};
}
template <class P> typename P::Value pick(P &p, const Range<P> &range, std::uint32_t small, std::uint32_t large) {
  const auto others = p.select(range.large, p.constant(large), p.constant(bits::kOne));
  return p.select(range.small, p.constant(small), others);
}

/// a / b: 0 / 0 and infinity / infinity give NaN. Rounded correctly where the quotient is normal; a subnormal one is
/// rounded twice.
template <class P> typename P::Value divide(P &p, typename P::Value a, typename P::Value b) {
  const auto a_range = range_of(p, a);
  const auto numerator = p.mul(a, pick(p, a_range, bits::power(70), bits::power(-56)));
  const auto a_back = pick(p, a_range, bits::power(-70), bits::power(56));
  const auto b_scale = pick(p, range_of(p, b), bits::power(70), bits::power(-56));
  const auto denominator = p.mul(b, b_scale);
  const auto y = reciprocal_or_special(p, denominator);
  const auto quotient = p.mul(numerator, y);
  const auto remainder = p.fma(p.neg(denominator), quotient, numerator);
  const auto exact = p.fma(remainder, y, quotient);
  const auto near =
      p.lt(p.abs(remainder), p.abs(numerator)); // not at zeros, infinities and NaN: there the product is right
  const auto chosen = p.select(near, exact, quotient);
  return p.mul(chosen, p.mul(a_back, b_scale));
}

/// A guess of 1 / sqrt(x) within 2^-15.9 for 2^-126 <= x < infinity: exponent and slope, then a parabola in x y^2. 7
/// operations.
template <class P> typename P::Value rsqrt_guess(P &p, typename P::Value x) {
  const auto y = p.isub(p.constant(0x5F1F92B7U), p.shr(x, 1));
  const auto u = p.mul(p.mul(x, y), y);
  const auto q = p.fma(u, p.constant(0x3F2BA812U), p.constant(0xBFE2E689U));
  return p.mul(y, p.fma(u, q, p.constant(0x4006D94EU)));
}

/// A value, and a small one that only lies in its range where the value is right.
template <class P> struct Root {
  typename P::Value value;
  typename P::Value error;
};

/// One step from the guess that carries the rounding error of x y.
template <class P> Root<P> rsqrt_steps(P &p, typename P::Value x) {
  const auto y = rsqrt_guess(p, x);
  const auto product = p.mul(x, y);
  const auto rest = p.fma(x, y, p.neg(product));
  const auto error = p.fma(p.neg(rest), y, p.fma(p.neg(product), y, p.constant(bits::kOne)));
  return {p.fma(p.mul(y, p.constant(bits::kHalf)), error, y), error};
}

/// 1 / sqrt(x) for 2^-126 <= x < infinity.
template <class P> typename P::Value rsqrt_midrange(P &p, typename P::Value x) { return rsqrt_steps(p, x).value; }

/// 1 / sqrt(x): +-0 gives +-infinity, infinity +0, less than 0 NaN.
template <class P> typename P::Value rsqrt(P &p, typename P::Value x) {
  const auto one = p.constant(bits::kOne);
  const auto small = p.lt(x, p.constant(bits::power(-126)));
  const auto scaled = p.mul(x, p.select(small, p.constant(bits::power(64)), one));
  const auto steps = rsqrt_steps(p, scaled);
  const auto negative = p.lt(scaled, p.constant(0));
  const auto special = p.select(negative, p.constant(bits::kNan), p.isub(p.constant(bits::kInfinity), scaled));
  const auto near = p.lt(p.abs(steps.error), p.constant(bits::kHalf));
  const auto root = p.select(near, steps.value, special);
  return p.mul(root, p.select(small, p.constant(bits::power(32)), one));
}

/// g near sqrt(x) and h near 1 / (2 sqrt(x)), made better together; then one step with the exact x - g g.
template <class P> Root<P> sqrt_steps(P &p, typename P::Value x) {
  const auto y = rsqrt_guess(p, x);
  const auto g = p.mul(x, y), h = p.mul(y, p.constant(bits::kHalf));
  const auto r = p.fma(p.neg(g), h, p.constant(bits::kHalf));
  const auto better = p.fma(g, r, g);
  const auto remainder = p.fma(p.neg(better), better, x);
  return {p.fma(remainder, p.fma(h, r, h), better), remainder};
}

/// sqrt(x) for 2^-102 <= x < infinity and for 0, rounded correctly. Below it is less than 2^-51; of infinity it is NaN.
template <class P> typename P::Value sqrt_midrange(P &p, typename P::Value x) { return sqrt_steps(p, x).value; }

/// sqrt(x), rounded correctly: -0 gives -0, less than 0 NaN.
template <class P> typename P::Value sqrt(P &p, typename P::Value x) {
  const auto one = p.constant(bits::kOne), infinity = p.constant(bits::kInfinity);
  const auto small = p.lt(x, p.constant(bits::power(-64)));
  const auto scaled = p.mul(x, p.select(small, p.constant(bits::power(64)), one));
  const auto steps = sqrt_steps(p, scaled);
  const auto near = p.le(p.abs(steps.error), scaled);
  const auto root = p.select(near, steps.value, p.fma(scaled, infinity, infinity));
  return p.mul(root, p.select(small, p.constant(bits::power(-32)), one));
}

} // namespace gradweave::functions
