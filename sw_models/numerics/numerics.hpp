// The numeric contract as code. Clause numbers (N1, N2, ...) are those of docs/numerics.md.
//
// Values travel as bit patterns: bf16 as std::uint16_t, fp32 as std::uint32_t or float. Nothing here depends on the
// compiler's floating-point options except std::fmaf, one fp32 addition and conversions of bits, which are exact by
// definition.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace gradweave {

inline constexpr std::uint16_t kBf16Nan = 0x7FC0;     ///< the one bf16 NaN that is ever produced (N2)
inline constexpr std::uint32_t kFp32Nan = 0x7FC00000; ///< the one fp32 NaN that is ever produced (N2)

inline float fp32_from_bits(std::uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

inline std::uint32_t bits_of_fp32(float f) {
  std::uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}

inline bool is_nan_bits(std::uint32_t fp32) { return (fp32 & 0x7FFFFFFFU) > 0x7F800000U; }

/// Any NaN becomes the canonical one, every other value stays (N2).
inline float canonical(float f) { return is_nan_bits(bits_of_fp32(f)) ? fp32_from_bits(kFp32Nan) : f; }

/// Exact: bf16 is the upper half of an fp32 (N1).
inline float fp32_from_bf16(std::uint16_t bf16) { return fp32_from_bits(std::uint32_t{bf16} << 16U); }

/// Round to nearest, ties to even; NaN becomes canonical, overflow infinity; subnormals are kept (N3, N8).
inline std::uint16_t bf16_from_fp32(float f) {
  const std::uint32_t bits = bits_of_fp32(f);
  if (is_nan_bits(bits)) return kBf16Nan;
  const std::uint32_t even = bits >> 16U & 1U;
  return static_cast<std::uint16_t>((bits + 0x7FFFU + even) >> 16U); // a carry into the exponent is the right answer
}

/// One step of a reduction: a * b + c with the exact product and a single rounding, canonical NaN (N4, N5).
inline float mac(std::uint16_t a, std::uint16_t b, float c) {
  return canonical(std::fmaf(fp32_from_bf16(a), fp32_from_bf16(b), c));
}

/// One element of an ADD: the sum of two fp32 values with a single rounding, canonical NaN (N13).
inline float add_fp32(float a, float b) { return canonical(a + b); }

} // namespace gradweave
