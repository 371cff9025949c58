// The grid of a convolution that reads images: its lines are the pixels of the image, of Y and of their gradients, each
// where the commands look for them (docs/convolution.md).
#pragma once

#include "compiler/ir/contraction.hpp"

namespace gradweave::compiler {

/// Lines of a row, and rows of an image: as many as the larger of the result and of a phase of the image has.
struct Grid {
  std::uint32_t width = 0, height = 0;
};
Grid grid_of(const Convolution &conv);

/// How X of a layer that reads images lies in memory: rows of the tensor are pixels, or blocks of pixels that are
/// packed.
struct ImageForm {
  std::uint32_t width = 0, height = 0; ///< rows of the tensor a row of the image, and those an image
  std::uint32_t phases = 1;            ///< of these a side that lie in planes
  std::uint32_t cols = 0;              ///< channels, of all pixels of a block
  std::uint32_t rows(const Convolution &conv) const { return conv.batch * height * width; }
};
ImageForm image_form(const Layer &layer);

/// Whether image and result are of one size, without a stride, so that a line is a pixel of either.
inline bool keeps_size(const Convolution &conv) {
  return conv.stride_height == 1 && conv.stride_width == 1 && conv.out_height() == conv.height &&
         conv.out_width() == conv.width;
}

/// Rows of the grid of all images of the layer; of a layer that is a part of another's lines, those of the part.
std::uint32_t grid_rows(const Layer &layer);

/// All of a layer.
Region whole(const Layer &layer);

/// Pixels of a result of the layer that are every stride-th of a row and of a column; all pixels where the result has
/// but one phase: of Y and dW, which count those of Y, and of dX without a stride.
struct Phase {
  std::uint32_t y = 0, x = 0;          ///< first pixel of an image
  std::uint32_t stride = 1;            ///< from pixel to pixel
  std::uint32_t width = 0, height = 0; ///< pixels of an image
  std::uint32_t first = 0;             ///< pixels of the phases before, in all images
};
/// As many as the result has, one after the other.
std::vector<Phase> phases_of(const Layer &layer, Tensor result);
/// The one that a pixel, counted phase by phase, is in.
Phase phase_of(const Layer &layer, Tensor result, std::uint32_t pixel);

/// Pixels of a phase that lie in rows of the grid; perhaps none.
IndexRange pixels_in(const Layer &layer, const Phase &phase, const IndexRange &rows);
/// Rows of the grid from the first to the last of a result's pixels, of one phase.
IndexRange rows_of(const Layer &layer, Tensor result, const IndexRange &pixels);
/// Rows of the grid from the first to the last of several such ranges.
IndexRange rows_together(const Layer &layer, Tensor result, const std::vector<IndexRange> &pixels);
/// Lines from the first to the last of a result's pixels: what a command walks. Of a layer that reads no image: the
/// indices along M.
std::uint32_t lines_of(const Layer &layer, Tensor result, const IndexRange &pixels);

/// Row of the grid that a pixel of X, or of dY, lies in.
std::uint32_t row_of(const Layer &layer, Tensor operand, std::uint32_t pixel);

} // namespace gradweave::compiler
