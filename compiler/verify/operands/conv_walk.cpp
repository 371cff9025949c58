#include "compiler/verify/operands/conv_walk.hpp"

#include <algorithm>

namespace gradweave::compiler {

std::optional<std::uint32_t> Lines::pixel(std::uint32_t line) const {
  const At place = at(line);
  if (!has(place)) return std::nullopt;
  return (place.image * tensor_h + place.y * stride + y) * tensor_w + place.x * stride + x;
}

std::uint32_t Lines::pixels(std::uint32_t lines) const {
  std::uint32_t count = 0;
  for (std::uint32_t line = 0; line < lines; ++line)
    count += pixel(line) ? 1 : 0;
  return count;
}

bool Lines::plain(std::uint32_t lines) const {
  const std::optional<std::uint32_t> first = pixel(0);
  for (std::uint32_t line = 0; line < lines; ++line)
    if (!first || pixel(line) != *first + line) return false;
  return true;
}

Lines lines_from(const Layer &layer, bool turned, std::uint32_t pixel) {
  const Convolution &c = *layer.conv;
  const auto grid = [&](std::uint32_t image, std::uint32_t result) {
    return std::max((image + c.stride_width - 1) / c.stride_width, result);
  };
  Lines lines;
  lines.grid_w = grid(c.width, c.out_width());
  lines.grid_h = grid(c.height, c.out_height());
  lines.tensor_w = turned ? c.width : c.out_width();
  lines.tensor_h = turned ? c.height : c.out_height();
  lines.stride = turned ? c.stride_width : 1;
  const std::uint32_t row = pixel / lines.tensor_w;
  lines.image = row / lines.tensor_h;
  lines.row = row % lines.tensor_h / lines.stride;
  lines.y = row % lines.tensor_h % lines.stride;
  lines.x = pixel % lines.tensor_w % lines.stride;
  lines.width = (lines.tensor_w - lines.x + lines.stride - 1) / lines.stride;
  lines.height = (lines.tensor_h - lines.y + lines.stride - 1) / lines.stride;
  return lines;
}

TapPixel tap_pixel(const Layer &layer, bool turned, const Lines &lines, const Lines::At &at, std::uint32_t ky,
                   std::uint32_t kx) {
  const Convolution &c = *layer.conv;
  std::int64_t y = std::int64_t{at.y} * c.stride_height + std::int64_t{ky} * c.dilation_height - c.pad_top;
  std::int64_t x = std::int64_t{at.x} * c.stride_width + std::int64_t{kx} * c.dilation_width - c.pad_left;
  if (turned) { // the pixel of Y that reads this one at the tap
    y = std::int64_t{at.y} * lines.stride + lines.y + c.pad_top - std::int64_t{ky} * c.dilation_height;
    x = std::int64_t{at.x} * lines.stride + lines.x + c.pad_left - std::int64_t{kx} * c.dilation_width;
    if (y % c.stride_height != 0 || x % c.stride_width != 0) return {};
    y /= c.stride_height;
    x /= c.stride_width;
  }
  const std::uint32_t height = turned ? c.out_height() : c.height, width = turned ? c.out_width() : c.width;
  TapPixel pixel;
  pixel.meets = true;
  pixel.inside = y >= 0 && x >= 0 && y < height && x < width;
  if (!pixel.inside) return pixel;
  const auto row = static_cast<std::uint32_t>(y), col = static_cast<std::uint32_t>(x);
  pixel.row = (at.image * height + row) * width + col;
  if (layer.packed && !turned) {
    const std::uint32_t stride = c.stride_width, down = (height + stride - 1) / stride,
                        across = (width + stride - 1) / stride;
    pixel.row = (at.image * down + row / stride) * across + col / stride;
    pixel.col = (row % stride * stride + col % stride) * c.channels;
  }
  return pixel;
}

PlaceRun places_inside(std::int64_t at, std::int64_t step, std::int64_t size, std::uint32_t count) {
  const std::int64_t first = at < 0 ? (-at + step - 1) / step : 0;
  const std::int64_t end = std::min<std::int64_t>(at < size ? (size - at + step - 1) / step : 0, count);
  if (first >= end) return {};
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end)};
}

TapRow tap_row(const Layer &layer, bool turned, const Lines &lines, const Lines::At &at, std::uint32_t ky,
               std::uint32_t kx, std::uint32_t count) {
  const Convolution &c = *layer.conv;
  // One pixel to the right the tap reads a stride to the right; turned, the next one that reads.
  std::int64_t x = std::int64_t{kx} * c.dilation_width - c.pad_left;
  std::int64_t step = c.stride_width, width = c.width;
  if (turned) {
    x = (std::int64_t{lines.x} - x) / c.stride_width;
    step = 1;
    width = c.out_width();
  }
  TapRow row;
  row.inside = places_inside(x, step, width, count);
  row.pixel = tap_pixel(layer, turned, lines, {at.image, at.y, row.inside.first}, ky, kx);
  row.step = layer.packed && !turned ? 1 : static_cast<std::uint32_t>(step);
  if (!row.pixel.inside) row.inside = {};
  return row;
}

} // namespace gradweave::compiler
