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

/// The phase of dX in which a pixel is, counted phase by phase: its first pixel of an image, and of all of the phase.
struct PhasePixel {
  std::uint32_t y = 0, x = 0, first = 0;
};
PhasePixel phase_pixel(const Convolution &conv, std::uint32_t pixel);
/// Taps that meet the phase.
std::uint32_t taps_that_meet(const Convolution &conv, std::uint32_t y, std::uint32_t x);

/// How the rectangle's pixels lie in the scratchpad, of X, dX, Y or dY of a layer that reads images: of X as planes,
/// or as blocks of pixels that are packed.
PixelGrid grid_form(const Layer &layer, Tensor tensor, const Rect &rect);

/// Taps of a kernel, and channels of each: a part of the terms of Y or dX, or of dW's rows.
struct Taps {
  std::uint32_t row = 0, col = 0, rows = 1, cols = 1;
  std::uint32_t channel = 0, channels = 0;
};

/// The taps that `size` indices from `first` on are, where a tap has `channels`. They must be of one tap, or whole taps
/// of one row of the kernel, or whole rows: `problem` says if they are not.
Taps taps_of_range(const Convolution &conv, std::uint32_t first, std::uint32_t size, std::uint32_t channels,
                   std::string &problem);

/// The same of a product's terms: blocks of channels have all taps, and their terms count those of all before. Of dX
/// with a stride the taps are those that meet the product's phase, in rows and columns a stride apart.
Taps taps_of_product(const TileProduct &p, const Layer &layer, std::string &problem);

/// Why no command can compute the product, or not as the reduction plan says; empty if one can.
std::string image_product_problem(const TileProduct &p, const Layer &layer, const ReductionPlans &plans);

/// operands_of() of a layer that reads images.
Operands image_operands_of(const TileProduct &p, const Layer &layer);

} // namespace gradweave::compiler
