#include "app/validate/corpus/parts/images.hpp"

#include <algorithm>

namespace gradweave::corpus {

namespace {

/// Taps, the way from one to the next, and the first one's place on an axis.
struct Axis {
  std::uint32_t taps = 1;
  std::int32_t off = 0, step = 0;
};

Axis draw_axis(bool weights, Dice &dice) {
  Axis a;
  if (!weights) {
    a.taps = dice.chance(0.7) ? dice.between(1, 3) : dice.between(1, 7);
    a.step = dice.chance(0.45) ? 1 : static_cast<std::int32_t>(dice.between(0, 3));
    if (dice.chance(0.4)) a.step = -a.step; // a turned kernel
  }
  const std::int32_t middle = static_cast<std::int32_t>(a.taps - 1) * a.step / 2;
  a.off = static_cast<std::int32_t>(dice.between(0, 4)) - 2 - (dice.chance(0.8) ? middle : 0);
  return a;
}

/// `most`, or less.
std::uint32_t size_up_to(std::uint32_t most, Dice &dice) { return dice.chance(0.6) ? most : dice.between(1, most); }

isa::ImageWalk draw_any(bool weights, std::uint32_t most_rows, Dice &dice) {
  isa::ImageWalk i;
  const Axis y = draw_axis(weights, dice);
  const Axis x = draw_axis(weights, dice);
  i.taps_y = y.taps;
  i.taps_x = x.taps;
  i.off_y = y.off;
  i.off_x = x.off;
  i.step_y = y.step;
  i.step_x = x.step;
  i.stride = weights || dice.chance(0.5) ? 1 : dice.between(1, 3);
  i.grid_w = dice.chance(0.8) ? dice.between(1, 9) : dice.between(1, 40);
  i.grid_h = dice.between(1, 9);
  i.grid_y = dice.chance(0.5) ? 0 : dice.between(0, i.grid_h - 1);
  i.img_w = size_up_to(i.grid_w * i.stride, dice);
  i.img_h = size_up_to(i.grid_h * i.stride, dice);
  const std::uint32_t room = most_rows / (i.stride * i.stride); // planes that are too far apart never fit
  if (!weights && (i.stride > 1 || dice.chance(0.2))) {
    i.plane = dice.between(0, std::min(i.grid_w * i.grid_h, room));
    i.packed = i.plane % 3 == 1;
  }
  if (weights) {
    i.out_w = size_up_to(i.grid_w, dice);
    i.out_h = size_up_to(i.grid_h, dice);
  }
  return i;
}

/// Of the taps and of the place that A_ROW names, which is no number below zero.
isa::RowSpan span_of(const isa::ImageWalk &image) {
  isa::RowSpan span = isa::tap_span(image);
  span.lo = std::min<std::int64_t>(span.lo, 0);
  span.hi = std::max(span.hi, span.lo);
  return span;
}

} // namespace

std::uint32_t reach_of(const isa::ImageWalk &image) {
  const isa::RowSpan span = span_of(image);
  return static_cast<std::uint32_t>(span.hi - span.lo);
}

std::optional<isa::ImageWalk> draw_image(bool weights, std::uint32_t most_rows, Dice &dice) {
  for (int attempt = 0; attempt < 12; ++attempt)
    if (const isa::ImageWalk image = draw_any(weights, most_rows, dice); reach_of(image) < most_rows) return image;
  return std::nullopt;
}

isa::SpmTile before_taps(const isa::SpmTile &first, const isa::ImageWalk &image, std::uint32_t lanes) {
  const std::int64_t lo = span_of(image).lo;
  isa::SpmTile tile = first;
  tile.row = static_cast<std::uint32_t>(first.row - lo);
  tile.rot = static_cast<isa::Lane>(((first.rot - lo) % std::int64_t{lanes} + lanes) % lanes);
  return tile;
}

} // namespace gradweave::corpus
