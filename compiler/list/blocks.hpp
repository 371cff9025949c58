// Orders that compute a block of result tiles at a time: what a list schedule begins with.
#pragma once

#include "compiler/ir/program.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler::list {

/// Result tiles whose sums are in the scratchpad together.
struct Block {
  std::uint32_t rows = 1, cols = 1; ///< tiles
  bool down = false;                ///< the next block is the one below, else the one to the right
  bool operator==(const Block &o) const { return rows == o.rows && cols == o.cols && down == o.down; }
};

/// The tile that all tiles of a block make together.
TileShape together(PhaseKind kind, const TileShape &tile, const Block &block);

/// All products of a phase with a single result, block after block, back and forth; in a block step after step of the
/// reduction. Tiles of an image that a block reads for its rows are one. Sums are on the cores by turns, from block to
/// block, too.
std::vector<TileProduct> blocked_products(PhaseKind kind, const TileShape &tile, const Block &block, const Layer &layer,
                                          std::uint32_t cores);

/// Of these the first step of the first block.
std::vector<TileProduct> first_step(PhaseKind kind, const TileShape &tile, const Block &block, const Layer &layer);

} // namespace gradweave::compiler::list
