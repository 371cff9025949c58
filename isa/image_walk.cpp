#include "isa/image_walk.hpp"

#include <algorithm>

namespace gradweave::isa {

namespace {

/// Rounds down, also below zero.
std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

} // namespace

std::int64_t image_row(const ImageWalk &image, std::uint32_t y, std::uint32_t row) {
  return std::int64_t{y} * image.stride + image.off_y + std::int64_t{row} * image.step_y;
}

std::int64_t image_col(const ImageWalk &image, std::uint32_t x, std::uint32_t col) {
  return std::int64_t{x} * image.stride + image.off_x + std::int64_t{col} * image.step_x;
}

namespace {

/// Where a tap is: pixels of a phase from those of the first line, and the phase.
struct TapPlace {
  std::int64_t move = 0, phase = 0;
};

TapPlace place_of(const ImageWalk &image, std::uint32_t row, std::uint32_t col) {
  const std::int64_t stride = image.stride, y = image_row(image, 0, row), x = image_col(image, 0, col);
  const std::int64_t down = floor_div(y, stride), right = floor_div(x, stride);
  return {down * image.grid_w + right, (y - down * stride) * stride + x - right * stride};
}

} // namespace

std::int64_t tap_shift(const ImageWalk &image, std::uint32_t row, std::uint32_t col) {
  const TapPlace tap = place_of(image, row, col);
  return tap.move + (image.packed ? 0 : tap.phase * image.plane);
}

std::int64_t tap_turn(const ImageWalk &image, std::uint32_t row, std::uint32_t col) {
  const TapPlace tap = place_of(image, row, col);
  return tap.move + tap.phase * image.plane;
}

RowSpan tap_span(const ImageWalk &image) {
  const auto axis = [&](std::int64_t first, std::int64_t last) {
    const std::int64_t a = floor_div(first, image.stride), b = floor_div(last, image.stride);
    return RowSpan{std::min(a, b), std::max(a, b)};
  };
  const RowSpan y = axis(image_row(image, 0, 0), image_row(image, 0, image.taps_y - 1));
  const RowSpan x = axis(image_col(image, 0, 0), image_col(image, 0, image.taps_x - 1));
  const std::int64_t planes = image.packed ? 0 : std::int64_t{image.stride} * image.stride - 1;
  return {y.lo * image.grid_w + x.lo, y.hi * image.grid_w + x.hi + planes * image.plane};
}

} // namespace gradweave::isa
