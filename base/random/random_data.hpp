// Random bf16 and fp32 data with a chosen share of special values.
#pragma once

#include "base/random/dice.hpp"

#include <cstddef>
#include <cstdint>

namespace gradweave {

struct DataMix {
  double finite_specials = 0; ///< share of +-0, subnormals, values near the ends of the range
  double non_finite = 0;      ///< share of infinities and NaNs (all payloads and signs)
};

/// Half of the mixes are plain, most others finite; the rest has a few infinities and NaNs.
DataMix random_mix(Dice &dice);

/// Plain values are of magnitude 1/8 to 8 with random signs and mantissas, so that sums cancel.
std::uint16_t random_bf16(const DataMix &mix, Dice &dice);
std::uint32_t random_fp32(const DataMix &mix, Dice &dice);

/// Fill `count` little-endian elements.
void fill_bf16(std::uint8_t *out, std::size_t count, const DataMix &mix, Dice &dice);
void fill_fp32(std::uint8_t *out, std::size_t count, const DataMix &mix, Dice &dice);

} // namespace gradweave
