// The programs of depthwise convolutions, each a loop over steps.
#pragma once

#include "isa/vector/program.hpp"

#include <cstddef>

namespace gradweave::compiler::depthwise {

constexpr unsigned kMostTaps = 2; ///< of a run: both operands of each, and sums, are tiles

/// o0 = +0.
isa::vector::Program zeros();
/// o0 = t0.
isa::vector::Program copies();
/// o0 = a sum that goes on with `taps` steps of N5: lines t0, t1, ... by weights, the same in all steps, of the tiles
/// behind them. The sum so far is the tile behind these; without `continues` it is +0.
isa::vector::Program image_taps(unsigned taps, bool continues);
/// Two values of bf16 in a word: o0 has t0's in its upper half and t1's in the lower.
isa::vector::Program pairs();
/// All taps in a run over the rows of an image, each of which is read once for each of the kernel's columns: t0, t1,
/// ... are a row, a kernel's column apart. A sum waits in a register for the rows below; what is complete at a step
/// goes to o0, of the first kernel_height - 1 steps nothing of use. The tile behind has pairs() of weights, tap by tap,
/// as its last lines, the first pair in the last; the run has so many steps at least.
isa::vector::Program image_rows(unsigned kernel_height, unsigned kernel_width);
/// Whether there are tiles and registers for it.
bool has_image_rows(std::size_t kernel_height, std::size_t kernel_width);
/// o0 = of each strip of t0, whose steps are the rows of a matrix, the diagonal.
isa::vector::Program diagonal();

} // namespace gradweave::compiler::depthwise
