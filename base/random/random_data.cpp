#include "base/random/random_data.hpp"

#include <cstring>

namespace gradweave {

namespace {

constexpr std::uint32_t kBias = 127;

/// Sign, exponent and mantissa of an fp32 of the mix; bf16 keeps the upper half.
std::uint32_t random_bits(const DataMix &mix, Dice &dice) {
  const auto bits = static_cast<std::uint32_t>(dice.bits());
  const std::uint32_t sign = bits & 0x80000000U;
  const std::uint32_t mantissa = bits & 0x007FFFFFU;
  const auto with_exponent = [&](std::uint32_t e) { return sign | e << 23U | mantissa; };
  if (dice.chance(mix.non_finite)) return dice.chance(0.7) ? sign | 0x7F800000U : with_exponent(255) | 0x00010000U;
  if (dice.chance(mix.finite_specials)) switch (dice.below(5)) {
    case 0:
      return sign;
    case 1:
      return with_exponent(0);
    case 2:
      return with_exponent(dice.between(1, 3));
    case 3:
      return with_exponent(dice.between(252, 254));
    default:
      return with_exponent(dice.between(kBias / 2 - 3, kBias / 2 + 3)); // products near the smallest
    }
  return with_exponent(dice.between(kBias - 3, kBias + 2));
}

} // namespace

DataMix random_mix(Dice &dice) {
  if (dice.chance(0.5)) return {};
  if (dice.chance(0.7)) return {0.05, 0};
  return {0.02, 0.002};
}

std::uint16_t random_bf16(const DataMix &mix, Dice &dice) {
  return static_cast<std::uint16_t>(random_bits(mix, dice) >> 16U);
}

std::uint32_t random_fp32(const DataMix &mix, Dice &dice) { return random_bits(mix, dice); }

void fill_bf16(std::uint8_t *out, std::size_t count, const DataMix &mix, Dice &dice) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t v = random_bf16(mix, dice);
    std::memcpy(out + 2 * i, &v, sizeof v);
  }
}

void fill_fp32(std::uint8_t *out, std::size_t count, const DataMix &mix, Dice &dice) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t v = random_fp32(mix, dice);
    std::memcpy(out + 4 * i, &v, sizeof v);
  }
}

} // namespace gradweave
