// Random convolutions, and their golden results by way of matrices.
#pragma once

#include "base/random/dice.hpp"
#include "base/random/random_data.hpp"
#include "sw_models/numerics/convolution.hpp"
#include "sw_models/numerics/golden.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <algorithm>
#include <ostream>
#include <vector>

namespace gradweave {

inline std::ostream &operator<<(std::ostream &out, const Convolution &c) {
  return out << c.batch << " images of " << c.height << " x " << c.width << " x " << c.channels << " to "
             << c.out_channels << ", kernel " << c.kernel_height << " x " << c.kernel_width << ", stride "
             << c.stride_height << " x " << c.stride_width << ", padding " << c.pad_top << " " << c.pad_bottom << " "
             << c.pad_left << " " << c.pad_right << ", dilation " << c.dilation_height << " x " << c.dilation_width
             << ", groups " << c.groups;
}

/// Every field is drawn, `taps` a side at most; a third are plain, a third grouped, a third depthwise.
inline Convolution random_convolution(Dice &dice, std::uint32_t taps = 4) {
  Convolution c;
  c.batch = dice.between(1, 3);
  c.kernel_height = dice.between(1, taps);
  c.kernel_width = dice.between(1, taps);
  c.stride_height = dice.between(1, 3);
  c.stride_width = dice.between(1, 3);
  c.dilation_height = dice.between(1, 3);
  c.dilation_width = dice.between(1, 3);
  c.pad_top = dice.between(0, 3);
  c.pad_bottom = dice.between(0, 3);
  c.pad_left = dice.between(0, 3);
  c.pad_right = dice.between(0, 3);
  const auto extent = [&](std::uint32_t kernel, std::uint32_t dilation, std::uint32_t padding) {
    const std::uint32_t reach = dilation * (kernel - 1) + 1;
    return std::max<std::uint32_t>(1, reach > padding ? reach - padding : 1) + dice.between(0, 8);
  };
  c.height = extent(c.kernel_height, c.dilation_height, c.pad_top + c.pad_bottom);
  c.width = extent(c.kernel_width, c.dilation_width, c.pad_left + c.pad_right);
  c.groups = dice.chance(1.0 / 3) ? 1 : dice.between(2, 6);
  const bool depthwise = dice.chance(0.5);
  c.channels = c.groups * (c.groups > 1 && depthwise ? 1 : dice.between(1, 7));
  c.out_channels = c.groups * (c.groups > 1 && depthwise ? dice.between(1, 2) : dice.between(1, 9));
  return c;
}

/// One that commands can compute from its images: of stride 1, every other field is drawn, the padding so that the
/// result is as large as the image. `taps` a side at most.
inline Convolution random_image_convolution(Dice &dice, std::uint32_t taps = 5) {
  Convolution c;
  c.batch = dice.between(1, 3);
  c.kernel_height = dice.between(1, taps);
  c.kernel_width = c.kernel_height == 1 ? dice.between(2, taps) : dice.between(1, taps);
  c.dilation_height = dice.between(1, 3);
  c.dilation_width = dice.between(1, 2);
  const std::uint32_t rows = (c.kernel_height - 1) * c.dilation_height, cols = (c.kernel_width - 1) * c.dilation_width;
  c.pad_top = dice.between(0, rows);
  c.pad_bottom = rows - c.pad_top;
  c.pad_left = dice.between(0, cols);
  c.pad_right = cols - c.pad_left;
  c.height = dice.between(1, 9);
  c.width = dice.between(1, 11);
  c.groups = dice.chance(0.7) ? 1 : dice.between(2, 4);
  c.channels = c.groups * dice.between(1, dice.chance(0.5) ? 4 : 21);
  c.out_channels = c.groups * dice.between(1, dice.chance(0.5) ? 4 : 19);
  return c;
}

/// One that commands can compute from its images, of any stride and with any padding that they allow: its result is
/// smaller or larger than the image.
inline Convolution random_strided_convolution(Dice &dice, std::uint32_t taps = 5) {
  Convolution c = random_image_convolution(dice, taps);
  const std::uint32_t stride = dice.between(1, 3);
  c.stride_height = c.stride_width = stride;
  // Every pixel is to meet a tap.
  c.kernel_height = std::max(c.kernel_height, stride);
  c.kernel_width = std::max(c.kernel_width, stride);
  if (c.dilation_height % stride == 0) c.dilation_height = 1;
  if (c.dilation_width % stride == 0) c.dilation_width = 1;
  const std::uint32_t rows = (c.kernel_height - 1) * c.dilation_height, cols = (c.kernel_width - 1) * c.dilation_width;
  const auto pad = [&](std::uint32_t reach) { return dice.chance(0.3) ? 0 : dice.between(0, reach); };
  c.pad_top = pad(rows);
  c.pad_bottom = pad(rows);
  c.pad_left = pad(cols);
  c.pad_right = pad(cols);
  const auto least = [&](std::uint32_t reach, std::uint32_t padding) {
    return std::max(stride, reach + 1 > padding ? reach + 1 - padding : 1);
  };
  c.height = std::max(c.height, least(rows, c.pad_top + c.pad_bottom));
  c.width = std::max(c.width, least(cols, c.pad_left + c.pad_right));
  return c;
}

/// 3 x 3 taps on one square image of `side` x `side` pixels, the result as large.
inline Convolution small_image_convolution(std::uint32_t side, std::uint32_t channels, std::uint32_t out_channels) {
  Convolution c;
  c.height = c.width = side;
  c.channels = channels;
  c.out_channels = out_channels;
  c.kernel_height = c.kernel_width = 3;
  c.pad_top = c.pad_bottom = c.pad_left = c.pad_right = 1;
  return c;
}

struct ConvolutionData {
  std::vector<std::uint16_t> image, w, dy;
};

inline ConvolutionData random_data(const Convolution &c, const DataMix &mix, Dice &dice) {
  const auto fill = [&](std::size_t count) {
    std::vector<std::uint16_t> values(count);
    std::generate(values.begin(), values.end(), [&] { return random_bf16(mix, dice); });
    return values;
  };
  return {fill(c.image_size()), fill(std::size_t{c.groups} * c.k() * c.n()), fill(std::size_t{c.m()} * c.out_channels)};
}

/// Where a new partial sum begins in a reduction, for Y, dX and dW.
struct ConvolutionCuts {
  std::vector<std::uint32_t> y, dx, dw;
};

struct ConvolutionResults {
  std::vector<std::uint16_t> y;  ///< an image
  std::vector<std::uint16_t> dx; ///< M x (groups K)
  std::vector<float> dw;
};

/// Golden products of each group on a matrix X of im2col.
inline ConvolutionResults golden_products(const Convolution &c, const std::vector<std::uint16_t> &x,
                                          const ConvolutionData &data, const ConvolutionCuts &cuts = {}) {
  using golden::MatrixView;
  const std::size_t m = c.m(), k = c.k(), n = c.n();
  ConvolutionResults r{
      std::vector<std::uint16_t>(m * c.out_channels), std::vector<std::uint16_t>(m * k * c.groups), {}};
  for (std::size_t g = 0; g < c.groups; ++g) {
    const MatrixView xg{x.data() + g * k, k * c.groups, 1};
    const MatrixView wg{data.w.data() + g * k * n, n, 1};
    const MatrixView dyg{data.dy.data() + g * n, c.out_channels, 1};
    const std::vector<float> y = golden::planned_product(xg, wg, m, n, k, cuts.y);
    const std::vector<float> dx = golden::planned_product(dyg, wg.transposed(), m, k, n, cuts.dx);
    const std::vector<float> dw = golden::planned_product(xg.transposed(), dyg, k, n, m, cuts.dw);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        r.y[i * c.out_channels + g * n + j] = bf16_from_fp32(y[i * n + j]);
      for (std::size_t j = 0; j < k; ++j)
        r.dx[i * k * c.groups + g * k + j] = bf16_from_fp32(dx[i * k + j]);
    }
    r.dw.insert(r.dw.end(), dw.begin(), dw.end());
  }
  return r;
}

} // namespace gradweave
