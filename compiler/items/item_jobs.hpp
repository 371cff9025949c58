// A group of ops as what is done for one item: products and runs of programs on tiles, whichever item it is.
#pragma once

#include "graph/ir/graph.hpp"
#include "isa/vector/program.hpp"

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace gradweave::compiler {

inline constexpr std::size_t kOwnPlace = ~std::size_t{0};

/// A matrix that each item has in the scratchpad.
struct ItemTile {
  graph::TensorId tensor = graph::kNone; ///< kNone: between jobs of an operator
  std::uint32_t rows = 1, cols = 1;
  bool fp32 = false;
  bool each = true; ///< no: all items with the same elements may share one
  /// Between runs, one element a row: a chunk's rows of all items lie side by side, as one line.
  bool line = false;
  /// Of each item, the number of element (0, 0) in its tensor, which counts row by row.
  std::vector<std::size_t> firsts;
  std::size_t pitch = 0; ///< elements from row to row
  bool loaded = false, stored = false;
  /// The tile in whose place it is written, as that is read for the last time; kOwnPlace: it has its own.
  std::size_t over = kOwnPlace;
};

/// The tile whose place a tile has.
inline std::size_t place_of_tile(const std::vector<ItemTile> &tiles, std::size_t tile) {
  while (tiles[tile].over != kOwnPlace)
    tile = tiles[tile].over;
  return tile;
}

/// Tile c = tile a times tile b; a_col and b_col as in a GEMM.
struct ItemProduct {
  std::size_t a = 0, b = 0, c = 0;
  /// Where sums are in fp32 that go on in another command: c itself, or a tile that items have one after the other.
  std::size_t sums = 0;
  bool a_col = false, b_col = false;
  std::uint32_t m = 1, n = 1, k = 1;
};

/// How a program sees a tile. Lanes are rows of the tile; rows of several items follow one another.
struct ItemView {
  std::size_t tile = 0;
  bool by_col = true, same_element = false, same_step = false;
};

/// A run of a program: `lanes` for each item.
struct ItemRun {
  isa::vector::Program program;
  std::uint32_t lanes = 1, steps = 1;
  std::vector<ItemView> operands, results;
};

using ItemStage = std::variant<ItemProduct, ItemRun>;

struct ItemJobs {
  std::size_t items = 1;
  std::vector<ItemTile> tiles;
  std::vector<ItemStage> stages; ///< in an order in which an item can run
};

} // namespace gradweave::compiler
