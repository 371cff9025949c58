// Images of random convolutions.
#pragma once

#include "base/random/dice.hpp"
#include "isa/command.hpp"

#include <cstdint>
#include <optional>

namespace gradweave::corpus {

/// A walk whose taps move A by fewer than `most_rows` rows from the first to the last: kernels of all shapes, strides 1
/// to 3, dilation, turned kernels, padding on any side, images smaller than their grid. `weights`: of a WGRAD. Nothing
/// if chance does not find one soon. b_tap is left at 0.
std::optional<isa::ImageWalk> draw_image(bool weights, std::uint32_t most_rows, Dice &dice);

/// Rows that the taps add to the lines of A.
std::uint32_t reach_of(const isa::ImageWalk &image);

/// Where A has to begin for its lines and taps to begin at `first`, in a scratchpad of so many lanes.
isa::SpmTile before_taps(const isa::SpmTile &first, const isa::ImageWalk &image, std::uint32_t lanes);

} // namespace gradweave::corpus
