#include "sw_models/numerics/convolution.hpp"

#include "sw_models/numerics/numerics.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradweave {
namespace {

/// Calls visit(column, pixel) for every element of X that is not padding, with where its tap's first channel of a group
/// stands in X and where the pixel's first channel of that group stands in the image; tap after tap.
template <typename Visit> void for_each_tap(const Convolution &conv, Visit visit) {
  const std::size_t group_channels = conv.group_channels();
  const std::size_t k = conv.k();
  const std::size_t pitch = k * conv.groups;
  const std::size_t out_height = conv.out_height();
  const std::size_t out_width = conv.out_width();
  for (std::size_t kr = 0; kr < conv.kernel_height; ++kr)
    for (std::size_t kc = 0; kc < conv.kernel_width; ++kc)
      for (std::size_t b = 0; b < conv.batch; ++b)
        for (std::size_t r = 0; r < out_height; ++r) {
          const std::size_t row = r * conv.stride_height + kr * conv.dilation_height; // of the padded image
          if (row < conv.pad_top || row - conv.pad_top >= conv.height) continue;
          for (std::size_t c = 0; c < out_width; ++c) {
            const std::size_t col = c * conv.stride_width + kc * conv.dilation_width;
            if (col < conv.pad_left || col - conv.pad_left >= conv.width) continue;
            const std::size_t m = (b * out_height + r) * out_width + c;
            const std::size_t pixel = (b * conv.height + row - conv.pad_top) * conv.width + col - conv.pad_left;
            for (std::size_t g = 0; g < conv.groups; ++g)
              visit(m * pitch + g * k + (kr * conv.kernel_width + kc) * group_channels,
                    pixel * conv.channels + g * group_channels);
          }
        }
}

} // namespace

std::vector<std::uint16_t> im2col(const Convolution &conv, const std::uint16_t *image) {
  std::vector<std::uint16_t> x(std::size_t{conv.m()} * conv.k() * conv.groups, 0);
  for_each_tap(conv, [&](std::size_t column, std::size_t pixel) {
    std::copy_n(image + pixel, conv.group_channels(), x.begin() + static_cast<std::ptrdiff_t>(column));
  });
  return x;
}

std::vector<std::uint16_t> col2im(const Convolution &conv, const std::uint16_t *dx) {
  std::vector<float> sums(conv.image_size(), 0);
  std::vector<bool> begun(conv.image_size(), false);
  for_each_tap(conv, [&](std::size_t column, std::size_t pixel) {
    for (std::size_t c = 0; c < conv.group_channels(); ++c) {
      const float copy = fp32_from_bf16(dx[column + c]);
      // The sum begins with its first term, not with +0, which would turn a lone -0 into +0.
      sums[pixel + c] = begun[pixel + c] ? sums[pixel + c] + copy : copy;
      begun[pixel + c] = true;
    }
  });
  std::vector<std::uint16_t> image(sums.size());
  std::transform(sums.begin(), sums.end(), image.begin(), bf16_from_fp32);
  return image;
}

std::vector<std::uint16_t> im2col_transposed(const Convolution &conv, const std::uint16_t *dy) {
  if (conv.stride_height != 1 || conv.stride_width != 1)
    throw std::invalid_argument("im2col_transposed: a stride leaves taps out");
  const std::size_t n = conv.n(), k = conv.k(), taps = std::size_t{conv.kernel_height} * conv.kernel_width;
  std::vector<std::uint16_t> rows(std::size_t{conv.batch} * conv.height * conv.width * conv.groups * taps * n, 0);
  for_each_tap(conv, [&](std::size_t column, std::size_t pixel) {
    const std::size_t m = column / (k * conv.groups), g = column % (k * conv.groups) / k;
    const std::size_t tap = column % k / conv.group_channels(), p = pixel / conv.channels;
    std::copy_n(dy + m * conv.out_channels + g * n, n,
                rows.begin() + static_cast<std::ptrdiff_t>(((p * conv.groups + g) * taps + tap) * n));
  });
  return rows;
}

std::vector<std::uint16_t> transposed_weights(const Convolution &conv, const std::uint16_t *w) {
  const std::size_t n = conv.n(), channels = conv.group_channels();
  std::vector<std::uint16_t> turned(conv.groups * conv.k() * n);
  for (std::size_t row = 0; row < conv.groups * std::size_t{conv.k()}; ++row)
    for (std::size_t i = 0; i < n; ++i)
      turned[(row / channels * n + i) * channels + row % channels] = w[row * n + i];
  return turned;
}

std::vector<std::uint32_t> term_order(std::uint32_t taps, std::uint32_t channels, std::uint32_t block) {
  const std::uint32_t step = block == 0 ? channels : block;
  std::vector<std::uint32_t> order;
  order.reserve(std::size_t{taps} * channels);
  for (std::uint32_t first = 0; first < channels; first += step)
    for (std::uint32_t tap = 0; tap < taps; ++tap)
      for (std::uint32_t c = first; c < std::min(first + step, channels); ++c)
        order.push_back(tap * channels + c);
  return order;
}

} // namespace gradweave
