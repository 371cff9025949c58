// What a tile product reads and writes, derived from the products' index sets alone. Nothing of it is shared with the
// passes that are verified.
#pragma once

#include "compiler/verify/operands/product_operands.hpp"

#include <array>

namespace gradweave::compiler {

/// A tensor of a layer as a whole, and whether the pass has it.
struct Expected {
  Tensor tensor{};
  bool wanted = false;   ///< by the pass
  bool computed = false; ///< by the pass; else it is an input
  bool fp32 = false;
  std::uint32_t rows = 0, cols = 0;
};
/// Of all tensors, in the order of Tensor.
std::array<Expected, kTensorCount> expected_tensors(const Layer &layer, Pass pass);

/// Of a product.
Operands operands_of(const TileProduct &p, const Layer &layer);

/// M, K and N of the products of a result, in a group: where images are read, dX's are lines, channels, and the terms
/// of all taps.
std::array<std::uint32_t, 3> extents_of(Tensor result, const Layer &layer);

/// Terms of a result's whole reduction; of dX of a layer that reads images with a stride in the phase from pixel (`y`,
/// `x`) on.
std::uint32_t terms_of(Tensor result, const Layer &layer, std::uint32_t y = 0, std::uint32_t x = 0);
/// Of a product.
std::uint32_t terms_of(const TileProduct &p, const Layer &layer);

/// Rows of a panel of a tile: those of the rectangle, and gaps of the grid between them.
std::uint64_t panel_rows_of_tile(const Rect &rect);

/// Scratchpad rows of a tile: panels of `lanes` columns, each as many rows as the tile has (fp32: twice), an even
/// number.
std::uint64_t rows_of_tile(const Rect &rect, bool fp32, std::uint32_t lanes);

} // namespace gradweave::compiler
