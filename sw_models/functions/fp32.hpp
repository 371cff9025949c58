// The operations of a lane of the vector unit, N18 of docs/numerics.md, as bits: the arithmetic that the functions of
// this directory are computed with here. They are templates over such a policy, so that the same text is also counted
// (count.hpp) and can be assembled into a program.
//
// A policy has a type Value, what a lane's register of 32 bits holds, and the functions below. There is no branch on a
// value: what depends on one is a select. neg() and abs() are no operations: they say how an operation reads its
// operand.
//
// A sequence has one order: no call has two operations among its arguments, whose order a C++ compiler may choose.
// constant(), neg() and abs() are no operations and come in any order.
#pragma once

#include "sw_models/numerics.hpp"

#include <cmath>
#include <cstdint>

namespace gradweave::functions {

/// Computes on bits, each operation as N18 says.
struct Fp32 {
  using Value = std::uint32_t;
  static constexpr Value kSign = 0x80000000U;

  static Value constant(std::uint32_t bits) { return bits; }

  static Value neg(Value a) { return a ^ kSign; }
  static Value abs(Value a) { return a & ~kSign; }

  static Value fma(Value a, Value b, Value c) { return canonical_bits(std::fmaf(real(a), real(b), real(c))); }
  static Value add(Value a, Value b) { return canonical_bits(real(a) + real(b)); }
  static Value mul(Value a, Value b) { return canonical_bits(real(a) * real(b)); }

  /// NaN if an operand is one; -0 lies below +0.
  static Value min(Value a, Value b) {
    const Value ordered = real(a) < real(b)   ? a
                          : real(b) < real(a) ? b
                                              : a | b; // equal ones differ in a zero's sign only
    return either_is_nan(a, b) ? kFp32Nan : ordered;
  }
  static Value max(Value a, Value b) {
    const Value ordered = real(a) > real(b) ? a : real(b) > real(a) ? b : a & b;
    return either_is_nan(a, b) ? kFp32Nan : ordered;
  }

  /// All ones if it holds, else all zeros; false with a NaN; -0 equals +0.
  static Value lt(Value a, Value b) { return mask(real(a) < real(b)); }
  static Value le(Value a, Value b) { return mask(real(a) <= real(b)); }
  static Value eq(Value a, Value b) { return mask(real(a) == real(b)); }

  /// The bits of a if the uppermost bit of c is set, else those of b.
  static Value select(Value c, Value a, Value b) { return (c & kSign) != 0 ? a : b; }

  static Value iadd(Value a, Value b) { return a + b; }
  static Value isub(Value a, Value b) { return a - b; }
  static Value band(Value a, Value b) { return a & b; }
  static Value bor(Value a, Value b) { return a | b; }
  static Value bxor(Value a, Value b) { return a ^ b; }

  /// By 0 to 31.
  static Value shl(Value a, unsigned by) { return a << by; }
  static Value shr(Value a, unsigned by) { return a >> by; }
  static Value sra(Value a, unsigned by) { return a >> by | ((a & kSign) != 0 ? ~(~std::uint32_t{0} >> by) : 0); }

  /// The nearest bf16 (N8), as the fp32 that it is.
  static Value to_bf16(Value a) { return std::uint32_t{bf16_from_fp32(real(a))} << 16U; }

private:
  static float real(Value a) { return fp32_from_bits(a); }
  static Value canonical_bits(float a) { return a != a ? kFp32Nan : bits_of_fp32(a); }
  static Value mask(bool holds) { return holds ? ~Value{0} : 0; }
  static bool either_is_nan(Value a, Value b) { return real(a) != real(a) || real(b) != real(b); }
};

} // namespace gradweave::functions
