#include "train/kernel_rows.hpp"

#include "compiler/ir/arithmetic.hpp"
#include <algorithm>

namespace gradweave::runtime::train {
namespace {

/// Whether walks that are saved take longer than making and reading the pixels: with a stride each is made of a row of
/// the image of its own, byte by byte, nearly eight times what a beat takes of it, of a bus that is not too wide for
/// rows of few elements.
bool gains(const Convolution &conv, const Convolution &columns, const NpuConfig &npu) {
  constexpr std::uint64_t kBeats = 8, kBytes = 2, kWidest = 32;
  const std::uint64_t walks = std::uint64_t{conv.kernel_height} * conv.kernel_width - columns.kernel_height;
  const std::uint64_t tiles = compiler::divide_up(conv.out_channels, npu.cols);
  return walks * conv.m() * tiles * std::min<std::uint64_t>(npu.bus_bytes, kWidest) >
         columns.image_size() * kBytes * kBeats;
}

} // namespace

std::optional<KernelRows> kernel_rows_of(const Convolution &conv, const NpuConfig &npu) {
  const std::uint32_t stride = conv.stride_height, columns = conv.kernel_width * conv.channels;
  if (conv.kernel_width == 1 || conv.stride_width != stride || conv.dilation_width != 1 || conv.groups != 1 ||
      (stride > 1 && conv.dilation_height != 1) || stride * columns > npu.rows)
    return std::nullopt;
  KernelRows parts{conv, conv};
  parts.rows.kernel_height = stride;
  parts.columns.width = conv.out_width();
  parts.columns.channels = stride * columns;
  parts.columns.kernel_width = 1;
  parts.columns.stride_height = parts.columns.stride_width = 1;
  parts.columns.pad_left = parts.columns.pad_right = 0;
  if (stride == 1) {
    parts.rows.pad_top = parts.rows.pad_bottom = 0;
    return parts;
  }
  // Rows of pixels begin with the padding, so that the kernel does with a pixel's first row.
  parts.columns.kernel_height = static_cast<std::uint32_t>(compiler::divide_up(conv.kernel_height, stride));
  parts.columns.height = conv.out_height() + parts.columns.kernel_height - 1;
  parts.columns.pad_top = parts.columns.pad_bottom = 0;
  const std::uint32_t read = parts.columns.height * stride, there = conv.pad_top + conv.height;
  parts.rows.pad_bottom = read - std::min(read, there);
  if (!gains(conv, parts.columns, npu)) return std::nullopt;
  return parts;
}

std::optional<std::uint32_t> row_inside_image(const Convolution &conv) {
  const auto row = static_cast<std::uint32_t>(compiler::divide_up(conv.pad_top, conv.dilation_height));
  const std::uint32_t last = (conv.out_height() - 1) * conv.stride_height + row * conv.dilation_height - conv.pad_top;
  if (row >= conv.kernel_height || last >= conv.height) return std::nullopt;
  return row;
}

} // namespace gradweave::runtime::train
