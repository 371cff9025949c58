#include "compiler/verify/operands/image_operands.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Rows of images, all images one after the other; none if `end` is not above `first`.
struct Rows {
  std::int64_t first = 0, end = 0;
};

/// The pixels of a result that a product has: rows of `width` pixels, `height` an image, and which of the image they
/// are.
struct Pixels {
  std::uint32_t width = 0, height = 0;
  std::uint32_t stride = 1, y = 0, x = 0; ///< of dX: every stride-th from (y, x) on
  std::uint32_t first = 0;                ///< where the phase begins
};

Pixels pixels_of(Tensor result, const Convolution &conv, std::uint32_t pixel) {
  if (!is_turned(result)) return {conv.out_width(), conv.out_height()};
  const std::uint32_t stride = conv.stride_width;
  Pixels p{0, 0, stride};
  // Phase by phase, each with the pixels of all images.
  for (std::uint32_t end = 0; p.y < stride; p.x + 1 < stride ? ++p.x : (p.x = 0, ++p.y)) {
    p.width = (conv.width + stride - 1 - p.x) / stride;
    p.height = (conv.height + stride - 1 - p.y) / stride;
    p.first = end;
    end += conv.batch * p.width * p.height;
    if (pixel < end) return p;
  }
  return p;
}

/// The rows of the operand image that the product's pixels read with rows of the kernel from the first to one past the
/// last, from the definition of the convolution.
Rows rows_read(const TileProduct &p, const Convolution &conv, std::int64_t first_tap, std::int64_t end_tap) {
  const Pixels own = pixels_of(p.result, conv, p.m);
  const bool turned = is_turned(p.result);
  const std::int64_t height = turned ? conv.out_height() : conv.height, stride = conv.stride_height;
  Rows read{std::int64_t{conv.batch} * height, 0};
  for (std::int64_t row = (p.m - own.first) / own.width; row <= (p.m - own.first + p.m_size - 1) / own.width; ++row)
    for (std::int64_t tap = first_tap; tap < end_tap; ++tap) {
      const std::int64_t move = tap * conv.dilation_height - conv.pad_top, y = row % own.height;
      const std::int64_t at = turned ? y * own.stride + own.y - move : y * stride + move;
      if (turned && at % stride != 0) continue;
      const std::int64_t image_row = turned ? at / stride : at;
      if (at < 0 || image_row >= height) continue;
      read.first = std::min(read.first, row / own.height * height + image_row);
      read.end = std::max(read.end, row / own.height * height + image_row + 1);
    }
  return read;
}

/// Blocks of pixels along a side of an image that is packed.
std::uint32_t blocks(std::uint32_t size, const Convolution &conv) {
  return (size + conv.stride_width - 1) / conv.stride_width;
}

/// The rows of X, as a tensor, in which these are, whole rows of blocks.
Rows rows_of_blocks(const Rows &rows, const Convolution &conv) {
  const std::int64_t height = blocks(conv.height, conv), stride = conv.stride_height;
  const auto block = [&](std::int64_t row) { return row / conv.height * height + row % conv.height / stride; };
  return {block(rows.first), block(rows.end - 1) + 1};
}

/// Taps along a side that meet a phase: the first, and how many a stride apart.
std::uint32_t met(std::uint32_t taps, std::uint32_t dilation, std::uint32_t pad, std::uint32_t stride,
                  std::uint32_t phase, std::uint32_t &first) {
  std::uint32_t count = 0;
  for (std::uint32_t tap = taps; tap-- > 0;)
    if ((std::int64_t{phase} + pad - std::int64_t{tap} * dilation) % stride == 0) first = tap, ++count;
  return count;
}

/// The rectangle's lines in the grid, if they do not simply follow one another.
PixelGrid form(const Convolution &conv, std::uint32_t width, std::uint32_t height, std::uint32_t stride,
               const Rect &rect) {
  const auto side = [&](std::uint32_t image, std::uint32_t result) {
    return std::max((image + conv.stride_width - 1) / conv.stride_width, result);
  };
  const std::uint32_t grid_w = side(conv.width, conv.out_width()), grid_h = side(conv.height, conv.out_height());
  const std::uint32_t image = width * height;
  const bool crosses = rect.rows != 0 && rect.row / image != (rect.row + rect.rows - 1) / image;
  if (stride == 1 && grid_w == width && (grid_h == height || !crosses)) return {};
  return {static_cast<std::uint16_t>(width),  static_cast<std::uint16_t>(height), static_cast<std::uint16_t>(grid_w),
          static_cast<std::uint16_t>(grid_h), static_cast<std::uint8_t>(stride),  0};
}

} // namespace

PhasePixel phase_pixel(const Convolution &conv, std::uint32_t pixel) {
  const Pixels own = pixels_of(Tensor::kDX, conv, pixel);
  return {own.y, own.x, own.first};
}

std::uint32_t taps_that_meet(const Convolution &conv, std::uint32_t y, std::uint32_t x) {
  std::uint32_t first = 0;
  return met(conv.kernel_height, conv.dilation_height, conv.pad_top, conv.stride_height, y, first) *
         met(conv.kernel_width, conv.dilation_width, conv.pad_left, conv.stride_width, x, first);
}

PixelGrid grid_form(const Layer &layer, Tensor tensor, const Rect &rect) {
  const Convolution &conv = *layer.conv;
  const bool image = tensor == Tensor::kX || tensor == Tensor::kDX;
  if (tensor == Tensor::kX && layer.packed)
    return form(conv, blocks(conv.width, conv), blocks(conv.height, conv), 1, rect);
  if (image) return form(conv, conv.width, conv.height, conv.stride_width, rect);
  return form(conv, conv.out_width(), conv.out_height(), 1, rect);
}

bool is_turned(Tensor result) { return result == Tensor::kDX; }

bool has_lines(Tensor tensor) { return tensor != Tensor::kW; }

Taps taps_of_range(const Convolution &conv, std::uint32_t first, std::uint32_t size, std::uint32_t channels,
                   std::string &problem) {
  const std::uint32_t width = conv.kernel_width, tap = first / channels, count = size / channels;
  Taps taps{tap / width, tap % width, 1, 1, first % channels, size};
  if (taps.channel + size <= channels) return taps;
  taps.channels = channels;
  taps.rows = taps.col == 0 ? std::max(count / width, 1U) : 1;
  taps.cols = taps.rows > 1 ? width : count;
  if (taps.channel != 0 || size % channels != 0 || taps.rows * taps.cols != count || taps.col + taps.cols > width)
    problem = fmt::format("has the terms {} to {} of {} a tap, which are no taps in a rectangle", first, first + size,
                          channels);
  return taps;
}

Taps taps_of_product(const TileProduct &p, const Layer &layer, std::string &problem) {
  const Convolution &conv = *layer.conv;
  const bool dx = p.result == Tensor::kDX;
  const std::uint32_t first = dx ? p.n : p.k, size = dx ? p.n_size : p.k_size;
  const std::uint32_t channels = dx ? layer.n : conv.channels / conv.groups;
  if (dx && conv.stride_width > 1) {
    const Pixels own = pixels_of(p.result, conv, p.m);
    Taps taps;
    taps.rows = met(conv.kernel_height, conv.dilation_height, conv.pad_top, conv.stride_height, own.y, taps.row);
    taps.cols = met(conv.kernel_width, conv.dilation_width, conv.pad_left, conv.stride_width, own.x, taps.col);
    const std::uint32_t count = taps.rows * taps.cols;
    if (count == 0 || first % count != 0 || size % count != 0) {
      problem = "has a part of the taps that meet its phase";
      return taps;
    }
    taps.channel = first / count;
    taps.channels = size / count;
    if (!p.blocked && taps.channels != channels) problem = "has a part of the channels of its taps";
    return taps;
  }
  if (!p.blocked) return taps_of_range(conv, first, size, channels, problem);
  const std::uint32_t taps = conv.kernel_height * conv.kernel_width;
  if (first % taps != 0 || size % taps != 0) problem = "has a part of the taps of a block of channels";
  return {0, 0, conv.kernel_height, conv.kernel_width, first / taps, size / taps};
}

std::string image_product_problem(const TileProduct &p, const Layer &layer, const ReductionPlans &plans) {
  const Convolution &conv = *layer.conv;
  const Pixels own = pixels_of(p.result, conv, p.m);
  if ((p.m - own.first) % own.width != 0)
    return fmt::format("begins at pixel {} of a row", (p.m - own.first) % own.width);
  if (p.m_size % own.width != 0 || p.m - own.first + p.m_size > conv.batch * own.width * own.height)
    return "has pixels that are not whole rows of a phase";
  if (p.add) return {};
  std::string problem;
  const Taps taps = taps_of_product(p, layer, problem);
  if (!problem.empty()) return problem;
  if (p.result == Tensor::kDW && taps.rows * taps.cols != 1) return "has several taps of dW";
  const std::uint32_t block = plans.block_of(p.result);
  const std::uint32_t channels = p.result == Tensor::kDX ? layer.n : conv.channels / conv.groups;
  if (p.blocked != (block != 0)) return "takes channels in blocks where its reduction plan does not, or the other way";
  if (p.blocked && (taps.channel % block != 0 || taps.channels != std::min(block, channels - taps.channel)))
    return fmt::format("has the channels {} to {}, which are no block of {}", taps.channel,
                       taps.channel + taps.channels, block);
  return {};
}

Operands image_operands_of(const TileProduct &p, const Layer &layer) {
  const Convolution &conv = *layer.conv;
  const std::uint32_t channels = conv.channels / conv.groups, x_group = p.group * channels, y_group = p.group * layer.n;
  std::string ignored; // image_product_problem() has told
  const Taps own = taps_of_product(p, layer, ignored);
  const bool turned = p.result == Tensor::kDX;
  const std::uint32_t taps = own.rows * own.cols;
  // Y's product needs what its own rows of the kernel read.
  Rows read = p.result == Tensor::kY ? rows_read(p, conv, own.row, own.row + own.rows)
                                     : rows_read(p, conv, 0, conv.kernel_height);
  std::uint32_t width = turned ? conv.out_width() : conv.width;
  Rect image{0, (turned ? y_group : x_group) + own.channel, 0, own.channels};
  if (layer.packed && !turned) { // lines have all phases and channels
    width = blocks(conv.width, conv);
    image = {0, 0, 0, conv.stride_height * conv.stride_width * conv.channels};
    if (read.end > read.first) read = rows_of_blocks(read, conv);
  }
  if (read.end > read.first) {
    image.row = static_cast<std::uint32_t>(read.first) * width;
    image.rows = static_cast<std::uint32_t>(read.end - read.first) * width;
  }
  if (p.result == Tensor::kY) {
    Rect kernel{p.group * layer.k + (p.blocked ? own.channel : p.k), p.n, p.k_size, p.n_size};
    const auto all = static_cast<std::uint16_t>(taps);
    if (p.blocked) kernel.taps = {own.channels, all, 1, all};
    Rect result{p.m, y_group + p.n, p.m_size, p.n_size};
    result.pixels = grid_form(layer, p.result, result);
    return {Tensor::kX, Tensor::kW, image, kernel, result, p.k, p.k_size};
  }
  if (p.result == Tensor::kDW)
    return {Tensor::kX,
            Tensor::kDY,
            image,
            {p.m, y_group + p.n, p.m_size, p.n_size},
            {p.group * layer.k + p.k, p.n, p.k_size, p.n_size},
            p.m,
            p.m_size};
  const Pixels pixels = pixels_of(p.result, conv, p.m);
  const std::uint32_t tap_row = p.group * layer.k + (own.row * conv.kernel_width + own.col) * channels;
  Rect kernel{tap_row, own.channel, taps * channels, own.channels};
  if (taps == 1 || pixels.stride > 1) kernel = {tap_row + p.k, own.channel, taps * p.k_size, own.channels};
  if (taps > 1 && pixels.stride > 1)
    kernel.taps = {p.k_size, static_cast<std::uint16_t>(own.cols), static_cast<std::uint16_t>(pixels.stride),
                   static_cast<std::uint16_t>(pixels.stride * conv.kernel_width)};
  Rect result{p.m - pixels.first, x_group + p.k, p.m_size, p.k_size};
  result.pixels = grid_form(layer, p.result, result);
  if (pixels.stride > 1) result.pixels.phase = static_cast<std::uint8_t>(1 + pixels.y * pixels.stride + pixels.x);
  return {Tensor::kDY, Tensor::kW, image, kernel, result, p.n, p.n_size};
}

} // namespace gradweave::compiler
