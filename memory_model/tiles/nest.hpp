// What a nest of loops over tiles moves through a scratchpad.
#pragma once

#include "memory_model/tiles/product.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace gradweave::memory_model {

using LoopOrder = std::array<Dim, kDims>;   ///< outermost first
using Cut = std::array<std::size_t, kDims>; ///< of each dimension, which of its sides

/// A tensor in a nest.
struct Stream {
  double tile = 0; ///< lines of the scratchpad that a tile takes
  double kept = 0; ///< lines to keep beside the tile at work, so that nothing is moved twice
  Moves once;      ///< in any case
  Moves again;     ///< beyond that, if nothing is kept
  bool is_sum = false;
};

/// Adds a tensor of a product under loops. A tile stays while loops go on that the tensor does not depend on; another
/// loop that it does not depend on brings all tiles of the loops within it again. Taps are such a loop, around that of
/// the channels of each.
void add_streams(std::vector<Stream> &streams, const CutTensor &tensor, const Product &product, const LoopOrder &loops,
                 const Cut &cut);

/// What a phase moves.
struct Residence {
  Moves moves;
  double ahead = 0; ///< share of the tiles at work that have room for the next ones beside them
  bool fits = false;
};

/// In a scratchpad of so many lines: first come the tiles at work, then the next ones, then what saves the most by
/// staying; of a tensor a part saves its part.
Residence reside(std::vector<Stream> &streams, double lines);

} // namespace gradweave::memory_model
