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

namespace {

/// Calls f(element of the image, element of the packed image) for the first channel of each pixel.
template <typename F> void for_packed_pixels(const Convolution &conv, F f) {
  const std::uint32_t down = conv.stride_height, across = conv.stride_width;
  const std::uint32_t rows = (conv.height + down - 1) / down, cols = (conv.width + across - 1) / across;
  std::size_t pixel = 0;
  for (std::uint32_t image = 0; image < conv.batch; ++image)
    for (std::uint32_t y = 0; y < conv.height; ++y)
      for (std::uint32_t x = 0; x < conv.width; ++x, ++pixel) {
        const std::size_t block = (std::size_t{image} * rows + y / down) * cols + x / across;
        f(pixel * conv.channels, (block * down * across + y % down * across + x % across) * conv.channels);
      }
}

} // namespace

std::vector<std::uint16_t> packed_image(const Convolution &conv, const std::uint16_t *image) {
  const std::uint32_t down = conv.stride_height, across = conv.stride_width;
  const std::size_t blocks =
      std::size_t{conv.batch} * ((conv.height + down - 1) / down) * ((conv.width + across - 1) / across);
  constexpr std::uint16_t kNan = 0x7fc0;
  std::vector<std::uint16_t> packed(blocks * down * across * conv.channels, kNan);
  for_packed_pixels(
      conv, [&](std::size_t from, std::size_t to) { std::copy_n(image + from, conv.channels, packed.data() + to); });
  return packed;
}

std::vector<std::uint16_t> unpacked_image(const Convolution &conv, const std::uint16_t *packed) {
  std::vector<std::uint16_t> image(std::size_t{conv.batch} * conv.height * conv.width * conv.channels);
  for_packed_pixels(
      conv, [&](std::size_t to, std::size_t from) { std::copy_n(packed + from, conv.channels, image.data() + to); });
  return image;
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

std::vector<TransposedPhase> transposed_phases(const Convolution &conv) {
  std::vector<TransposedPhase> phases;
  for (std::uint32_t y = 0; y < conv.stride_height; ++y)
    for (std::uint32_t x = 0; x < conv.stride_width; ++x) {
      TransposedPhase phase{y, x, {}, {}};
      for (std::uint32_t tap = 0; tap < conv.kernel_height * conv.kernel_width; ++tap) {
        const std::int64_t down = std::int64_t{y} + conv.pad_top - tap / conv.kernel_width * conv.dilation_height;
        const std::int64_t right = std::int64_t{x} + conv.pad_left - tap % conv.kernel_width * conv.dilation_width;
        if (down % conv.stride_height == 0 && right % conv.stride_width == 0) phase.taps.push_back(tap);
      }
      for (std::uint32_t p = 0; p < conv.batch * conv.height * conv.width; ++p)
        if (p / conv.width % conv.height % conv.stride_height == y && p % conv.width % conv.stride_width == x)
          phase.pixels.push_back(p);
      phases.push_back(std::move(phase));
    }
  return phases;
}

std::vector<std::uint16_t> im2col_transposed(const Convolution &conv, const std::uint16_t *dy,
                                             const TransposedPhase &phase) {
  const std::size_t n = conv.n(), k = conv.k(), taps = phase.taps.size();
  std::vector<std::uint16_t> rows(phase.pixels.size() * conv.groups * taps * n, 0);
  std::vector<std::size_t> row_of(std::size_t{conv.batch} * conv.height * conv.width, phase.pixels.size());
  for (std::size_t i = 0; i < phase.pixels.size(); ++i)
    row_of[phase.pixels[i]] = i;
  for_each_tap(conv, [&](std::size_t column, std::size_t pixel) {
    const std::size_t m = column / (k * conv.groups), g = column % (k * conv.groups) / k;
    const std::size_t row = row_of[pixel / conv.channels];
    if (row == phase.pixels.size()) return;
    const auto tap = std::find(phase.taps.begin(), phase.taps.end(), column % k / conv.group_channels());
    const std::size_t at = (row * conv.groups + g) * taps + static_cast<std::size_t>(tap - phase.taps.begin());
    std::copy_n(dy + m * conv.out_channels + g * n, n, rows.begin() + static_cast<std::ptrdiff_t>(at * n));
  });
  return rows;
}

std::vector<std::uint16_t> transposed_weights(const Convolution &conv, const std::uint16_t *w,
                                              const TransposedPhase &phase) {
  const std::size_t n = conv.n(), channels = conv.group_channels();
  std::vector<std::uint16_t> turned;
  turned.reserve(conv.groups * phase.taps.size() * n * channels);
  for (std::size_t g = 0; g < conv.groups; ++g)
    for (const std::uint32_t tap : phase.taps)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < channels; ++c)
          turned.push_back(w[(g * conv.k() + tap * channels + c) * n + i]);
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
