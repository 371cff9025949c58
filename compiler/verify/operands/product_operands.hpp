// The noun of the checks: what a tile product reads and writes.
#pragma once

#include "compiler/ir/tile.hpp"

namespace gradweave::compiler {

/// Operands, result and terms of a product. Rectangles are those of the layer's tensors; of an operand that is read as
/// an image, and of dY beside it, with the rows that the product needs at least.
struct Operands {
  Tensor a{}, b{};
  Rect a_rect, b_rect, result;
  std::uint32_t first = 0, terms = 0; ///< range of the reduction
};

} // namespace gradweave::compiler
