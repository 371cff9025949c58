#include "train/kernel_rows.hpp"

#include <algorithm>

namespace gradweave::runtime::train {

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
  parts.columns.kernel_height = (conv.kernel_height + stride - 1) / stride;
  parts.columns.height = conv.out_height() + parts.columns.kernel_height - 1;
  parts.columns.pad_top = parts.columns.pad_bottom = 0;
  const std::uint32_t read = parts.columns.height * stride, there = conv.pad_top + conv.height;
  parts.rows.pad_bottom = read - std::min(read, there);
  return parts;
}

} // namespace gradweave::runtime::train
