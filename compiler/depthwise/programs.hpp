// The programs of depthwise convolutions, each a loop over steps.
#pragma once

#include "isa/vector/program.hpp"

namespace gradweave::compiler::depthwise {

constexpr unsigned kMostTaps = 2; ///< of a run: both operands of each, and sums, are tiles

/// o0 = +0.
isa::vector::Program zeros();
/// o0 = t0.
isa::vector::Program copies();
/// o0 = a sum that goes on with `taps` steps of N5: lines t0, t1, ... by weights, the same in all steps, of the tiles
/// behind them. The sum so far is the tile behind these; without `continues` it is +0.
isa::vector::Program image_taps(unsigned taps, bool continues);
/// `taps` sums of their own over the steps, from those in the last tiles: t0, t1, ... by the tile behind them. o(i) is
/// the i-th sum behind the last step.
isa::vector::Program weight_taps(unsigned taps);

} // namespace gradweave::compiler::depthwise
