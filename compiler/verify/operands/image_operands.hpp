// Products that read images, from the definition of a convolution: which pixels a tap reads. Nothing of it is shared
// with the passes that are verified.
#pragma once

#include "compiler/ir/reductions.hpp"
#include "compiler/verify/operands/product_operands.hpp"

#include <string>

namespace gradweave::compiler {

/// Whether a product's taps are those of the kernel turned.
bool is_turned(Tensor result);
/// Whether a tensor of a layer that reads images has tiles of whole rows of an image.
bool has_lines(Tensor tensor);

/// Taps of a kernel, and channels of each: a part of the terms of Y or dX, or of dW's rows.
struct Taps {
  std::uint32_t row = 0, col = 0, rows = 1, cols = 1;
  std::uint32_t channel = 0, channels = 0;
};

/// The taps that `size` indices from `first` on are, where a tap has `channels`. They must be of one tap, or whole taps
/// of one row of the kernel, or whole rows: `problem` says if they are not.
Taps taps_of_range(const Convolution &conv, std::uint32_t first, std::uint32_t size, std::uint32_t channels,
                   std::string &problem);

/// The same of a product's terms: blocks of channels have all taps, and their terms count those of all before.
Taps taps_of_product(const TileProduct &p, const Layer &layer, std::string &problem);

/// Why no command can compute the product, or not as the reduction plan says; empty if one can.
std::string image_product_problem(const TileProduct &p, const Layer &layer, const ReductionPlans &plans);

/// operands_of() of a layer that reads images.
Operands image_operands_of(const TileProduct &p, const Layer &layer);

} // namespace gradweave::compiler
