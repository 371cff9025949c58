#include "compiler/verify/operands/image_operands.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// The rows of images that the lines [first, first + count) read, as lines: `moves` pixels up to so many rows away.
Rect lines_around(const Convolution &conv, std::uint32_t first, std::uint32_t count, bool turned) {
  const std::int64_t height = conv.height, begin = first / conv.width, end = (first + count - 1) / conv.width;
  std::int64_t top = begin, bottom = end;
  for (std::int64_t row = begin; row <= end; ++row)
    for (std::int64_t tap = 0; tap < conv.kernel_height; ++tap) {
      const std::int64_t move = tap * conv.dilation_height - conv.pad_top, y = row % height + (turned ? -move : move);
      if (y < 0 || y >= height) continue;
      top = std::min(top, row / height * height + y);
      bottom = std::max(bottom, row / height * height + y);
    }
  return {static_cast<std::uint32_t>(top) * conv.width, 0, static_cast<std::uint32_t>(bottom + 1 - top) * conv.width,
          0};
}

} // namespace

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
  if (!p.blocked) return taps_of_range(conv, first, size, channels, problem);
  const std::uint32_t taps = conv.kernel_height * conv.kernel_width;
  if (first % taps != 0 || size % taps != 0) problem = "has a part of the taps of a block of channels";
  return {0, 0, conv.kernel_height, conv.kernel_width, first / taps, size / taps};
}

std::string image_product_problem(const TileProduct &p, const Layer &layer, const ReductionPlans &plans) {
  const Convolution &conv = *layer.conv;
  if (p.m % conv.width != 0) return fmt::format("begins at pixel {} of a row", p.m % conv.width);
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
  const Rect around = lines_around(conv, p.m, p.m_size, turned);
  const Rect image{around.row, (turned ? y_group : x_group) + own.channel, around.rows, own.channels};
  if (p.result == Tensor::kY)
    return {
        Tensor::kX,
        Tensor::kW,
        image,
        {p.group * layer.k + (p.blocked ? own.channel : p.k), p.n, p.k_size, p.n_size, p.blocked ? own.channels : 0},
        {p.m, y_group + p.n, p.m_size, p.n_size},
        p.k,
        p.k_size};
  if (p.result == Tensor::kDW)
    return {Tensor::kX,
            Tensor::kDY,
            image,
            {p.m, y_group + p.n, p.m_size, p.n_size},
            {p.group * layer.k + p.k, p.n, p.k_size, p.n_size},
            p.m,
            p.m_size};
  const std::uint32_t tap_row = p.group * layer.k + (own.row * conv.kernel_width + own.col) * channels;
  const std::uint32_t taps = own.rows * own.cols;
  const Rect kernel = taps == 1 ? Rect{tap_row + p.k, own.channel, p.k_size, own.channels}
                                : Rect{tap_row, own.channel, taps * channels, own.channels};
  return {Tensor::kDY, Tensor::kW, image, kernel, {p.m, x_group + p.k, p.m_size, p.k_size}, p.n, p.n_size};
}

} // namespace gradweave::compiler
