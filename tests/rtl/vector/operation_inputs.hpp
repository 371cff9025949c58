// Operands that break adders and multipliers.
#pragma once

#include "base/random/dice.hpp"
#include "isa/vector/assembler.hpp"
#include "sw_models/functions/fp32.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace gradweave::vector {

struct Triples {
  std::vector<std::uint32_t> a, b, c;
};

/// The program o0 = OP(t0, t1, t2), of as many operands as the operation has; shifts are by `by`.
inline isa::vector::Words operation_words(const std::string &op, unsigned by = 0) {
  static const char *const kTwo = "t0, t1", *const kThree = "t0, t1, t2";
  const bool shift = op == "shl" || op == "shr" || op == "sra";
  const std::string operands = shift                           ? "t0, " + std::to_string(by)
                               : op == "to_bf16"               ? "t0"
                               : op == "fma" || op == "select" ? kThree
                                                               : kTwo;
  return isa::vector::assemble("loop\n" + op + " o0, " + operands);
}

inline std::uint32_t directed_addend(Dice &dice, std::uint32_t a, std::uint32_t b, std::uint32_t kind) {
  const auto r = static_cast<std::uint32_t>(dice.bits());
  const std::uint32_t product = functions::Fp32::mul(a, b);
  switch (kind) {
  case 0: // any bits
    return r;
  case 1: // exact or nearly exact cancellation
    return (product ^ 0x80000000U) + r % 5 - 2;
  case 2: // exponents up to 60 apart: overlap, guard and sticky bits
    return (r & 0x807FFFFFU) | (((product >> 23U) + r % 121 - 60) & 0xFFU) << 23U;
  case 3: // halfway cases: one bit, at or below the rounding position of the product
    return (r & 0x80000000U) | (((product >> 23U) - 22 - r % 5) & 0xFFU) << 23U;
  case 4: // the product's lowest bits
    return functions::Fp32::neg(product);
  case 5: // subnormals
    return r & 0x80FFFFFFU;
  case 6: // overflow border
    return r | 0x7F000000U;
  default: // zero, infinity, NaN
    return (r & 0x80000000U) | ((r & 1U) != 0 ? 0x7F800000U : 0U) | ((r & 6U) == 0 ? 1U : 0U);
  }
}

/// Factors of any kind, of middling exponents, subnormal, at the overflow border, or special; addends as above.
inline Triples directed_triples(std::size_t count, Dice &dice) {
  Triples t;
  const auto factor = [&](std::uint32_t kind) {
    const auto r = static_cast<std::uint32_t>(dice.bits());
    switch (kind) {
    case 0:
      return r;
    case 1:
      return (r & 0x807FFFFFU) | (96 + (r >> 23U) % 64) << 23U;
    case 2:
      return r & 0x80FFFFFFU;
    case 3:
      return (r & 0x807FFFFFU) | (186 + (r >> 23U) % 10) << 23U;
    case 4:
      return (r & 0x807FFFFFU) | (r >> 23U) % 80 << 23U;
    case 5:
      return (r & 0x80000000U) | 0x3F800000U | (r & 3U); // products of few bits
    default:
      return (r & 0x80000000U) | ((r & 1U) != 0 ? 0x7F800000U : 0U) | ((r & 14U) == 0 ? 1U : 0U);
    }
  };
  for (std::size_t i = 0; i < count; ++i) {
    t.a.push_back(factor(static_cast<std::uint32_t>(dice.below(7))));
    t.b.push_back(factor(static_cast<std::uint32_t>(dice.below(6 + i % 2))));
    t.c.push_back(directed_addend(dice, t.a.back(), t.b.back(), static_cast<std::uint32_t>(dice.below(8))));
  }
  return t;
}

/// Sums of a product of factors near 1 and an addend whose highest bits are a power of two, or one less: what the
/// normalisation of a sum compares with. Bit 31 of a sum weighs 2^-29, and the bits from there on count.
inline Triples normalising_triples(std::size_t count, Dice &dice) {
  constexpr int kLowest = -29;
  constexpr int kPowers[] = {16, 24, 28, 30, 31};
  Triples t;
  while (t.a.size() < count) {
    const auto near_one = [&] { return 0x3F800000U | static_cast<std::uint32_t>(dice.below(1U << 23U)); };
    const std::uint32_t a = near_one(), b = near_one();
    const double product = double{fp32_from_bits(a)} * fp32_from_bits(b);
    const double top = std::ldexp(1.0, kPowers[dice.below(std::size(kPowers))]) - static_cast<double>(dice.below(2));
    const auto c = static_cast<float>(std::ldexp(top + 0.5, kLowest) - product);
    if (std::fabs(c) >= 2 || std::floor(std::ldexp(product + c, -kLowest)) != top) continue; // exact in double
    t.a.push_back(a);
    t.b.push_back(b);
    t.c.push_back(bits_of_fp32(c));
  }
  return t;
}

/// All triples of representatives of every class and border.
inline Triples corner_triples() {
  std::vector<std::uint32_t> v;
  for (const std::uint32_t sign : {0x00000000U, 0x80000000U})
    for (const std::uint32_t x :
         {0x00000000U, 0x00000001U, 0x00000003U, 0x007FFFFFU, 0x00800000U, 0x00800001U, 0x00FFFFFFU, 0x0C800000U,
          0x1F800000U, 0x33800000U, 0x3F7FFFFFU, 0x3F800000U, 0x3F800001U, 0x3FFFFFFFU, 0x4B000000U, 0x5F800000U,
          0x7E800000U, 0x7F000000U, 0x7F7FFFFFU, 0x7F800000U, 0x7F800001U, 0x7FC00000U, 0x7FFFFFFFU})
      v.push_back(sign | x);
  Triples t;
  for (const std::uint32_t a : v)
    for (const std::uint32_t b : v)
      for (const std::uint32_t c : v) {
        t.a.push_back(a);
        t.b.push_back(b);
        t.c.push_back(c);
      }
  return t;
}

} // namespace gradweave::vector
