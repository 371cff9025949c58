// What pooling operators share: a window over each channel of an image, [batch, rows, columns, channels].
#pragma once

#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/window.hpp"

namespace gradweave::graph {

/// kernel_shape, strides, pads.
std::vector<AttributeSpec> pool_attributes();

/// Of attributes that are checked; each channel is a group of its own.
Convolution pool_window(const Attributes &attributes, const Shape &image);

/// Checks attributes, and that they fit the image. A window never lies in padding altogether.
Convolution checked_pool_window(const Inference &op, const Shape &image);

/// Sets the result of a pooling, from an image as input 0.
void infer_pool(Inference &op);

/// Pixels of the smaller of both tensors, the result of a pooling, times those of a window.
double pool_operations(const OpView &op);

/// Where an output pixel's window begins and ends in its image; without padding.
struct Extent {
  std::size_t first_row = 0, end_row = 0, first_col = 0, end_col = 0;
  std::size_t pixels() const { return (end_row - first_row) * (end_col - first_col); }
};
Extent extent_of(const Convolution &window, std::size_t row, std::size_t col);

/// Calls visit(output pixel counted through the batch, its row, its column) for the windows that a pixel lies in,
/// ascending.
template <typename Visit>
void for_windows_of(const Convolution &v, std::size_t image, std::size_t row, std::size_t col, Visit visit) {
  const auto first = [](std::size_t padded, std::uint32_t kernel, std::uint32_t stride) {
    return padded < kernel ? 0 : (padded - kernel) / stride + 1;
  };
  const std::size_t padded_row = row + v.pad_top, padded_col = col + v.pad_left;
  for (std::size_t r = first(padded_row, v.kernel_height, v.stride_height);
       r < v.out_height() && r * v.stride_height <= padded_row; ++r)
    for (std::size_t c = first(padded_col, v.kernel_width, v.stride_width);
         c < v.out_width() && c * v.stride_width <= padded_col; ++c)
      visit((image * v.out_height() + r) * v.out_width() + c, r, c);
}

} // namespace gradweave::graph
