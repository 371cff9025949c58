#include "compiler/ir/image.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/grid/tile_rows.hpp"
#include "isa/command.hpp"

#include <algorithm>
#include <numeric>

namespace gradweave::compiler {
namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// One side of a convolution.
struct Side {
  std::uint32_t size, result, taps, dilation, before, behind, stride;

  std::uint32_t reach() const { return (taps - 1) * dilation; }
};
Side vertical(const Convolution &c) {
  return {c.height, c.out_height(), c.kernel_height, c.dilation_height, c.pad_top, c.pad_bottom, c.stride_height};
}
Side horizontal(const Convolution &c) {
  return {c.width, c.out_width(), c.kernel_width, c.dilation_width, c.pad_left, c.pad_right, c.stride_width};
}

/// Lines of the grid that taps move to, along a side, from the first to the last.
struct Moves {
  std::int64_t first = 0, last = 0;
};

Moves moves_of(const Side &side, Tensor result) {
  const std::int64_t before = side.before, reach = side.reach(), stride = side.stride;
  // From a pixel of the image to those of the result that read it, in all phases; or the other way.
  if (turns_kernel(result)) return {-floor_div(reach - before, stride), -floor_div(-before, stride)};
  return {floor_div(-before, stride), floor_div(reach - before, stride)};
}

bool fits(const isa::Field &field, std::uint64_t value) { return value >> field.width == 0; }

/// Whether each pixel of each phase meets a tap: taps a dilation apart take turns with all phases.
bool meets_all_phases(const Side &side) {
  return side.stride == 1 || (side.taps >= side.stride && std::gcd(side.dilation, side.stride) == 1);
}

bool pads_too_much(const Side &side) { return side.before > side.reach() || side.behind > side.reach(); }

} // namespace

std::string_view unreadable_image(const Convolution &c) {
  const Side y = vertical(c), x = horizontal(c);
  constexpr std::uint32_t kMostStride = 3;
  if (c.is_pointwise()) return "1 x 1";
  if (c.stride_height != c.stride_width || c.stride_width > kMostStride) return "stride";
  if (c.stride_height > c.height || c.stride_width > c.width) return "stride beyond the image";
  if (!meets_all_phases(y) || !meets_all_phases(x)) return "pixels that no tap reads";
  if (pads_too_much(y) || pads_too_much(x)) return "padding wider than the kernel";
  const Grid grid = grid_of(c);
  // Moves are signed.
  const bool walks = fits(isa::field::TAPS_Y, c.kernel_height) && fits(isa::field::TAPS_X, c.kernel_width) &&
                     fits(isa::field::OFF_Y, 2 * std::uint64_t{y.reach()}) &&
                     fits(isa::field::OFF_X, 2 * std::uint64_t{x.reach()}) && fits(isa::field::GRID_W, grid.width) &&
                     fits(isa::field::GRID_H, grid.height) && fits(isa::field::IMG_W, c.width) &&
                     fits(isa::field::IMG_H, c.height);
  const bool tiles = std::uint64_t{c.k()} < kMaxTileSide &&
                     std::uint64_t{c.kernel_height} * c.kernel_width * c.n() < kMaxTileSide &&
                     (std::uint64_t{y.reach()} + 1) * grid.width < kMaxTileSide;
  return walks && tiles ? "" : "too large for a command's fields";
}

bool can_read_image(const Convolution &conv) { return unreadable_image(conv).empty(); }

std::uint32_t taps_of(const Layer &layer) { return layer.conv->kernel_height * layer.conv->kernel_width; }

std::uint32_t kernel_channels(const Layer &layer) { return layer.k / taps_of(layer); }

std::uint32_t line_width(const Layer &layer) { return grid_of(*layer.conv).width; }

bool splits_phases(const Layer &layer, Tensor result) {
  return layer.image && turns_kernel(result) && layer.conv->stride_width > 1;
}

std::uint32_t tap_channels(const Layer &layer, Tensor result) {
  return turns_kernel(result) ? layer.n : kernel_channels(layer);
}

TapRange tap_range(const Layer &layer, const IndexRange &range, std::uint32_t channels, bool blocked) {
  if (blocked)
    return {0,
            0,
            layer.conv->kernel_height,
            layer.conv->kernel_width,
            range.first / taps_of(layer),
            range.size / taps_of(layer)};
  const std::uint32_t width = layer.conv->kernel_width, tap = range.first / channels;
  TapRange taps{tap / width, tap % width, 1, 1, range.first % channels, std::min(range.size, channels)};
  const std::uint32_t count = static_cast<std::uint32_t>(divide_up(range.size, channels));
  taps.rows = static_cast<std::uint32_t>(divide_up(count, width));
  taps.cols = std::min(count, width);
  return taps;
}

namespace {

/// Along a side, the first of the taps that meet a phase. They follow one another a stride apart.
std::uint32_t first_met(const Side &side, std::uint32_t phase) {
  std::uint32_t tap = 0;
  while ((phase + side.before + tap * (side.stride - 1) * side.dilation) % side.stride != 0)
    ++tap;
  return tap;
}
/// And how many they are.
std::uint32_t count_met(const Side &side, std::uint32_t phase) {
  return static_cast<std::uint32_t>(divide_up(side.taps - first_met(side, phase), side.stride));
}

} // namespace

std::uint32_t taps_met(const Layer &layer, const Phase &phase) {
  return count_met(vertical(*layer.conv), phase.y) * count_met(horizontal(*layer.conv), phase.x);
}

TapRange taps_of(const Layer &layer, const TileProduct &p) {
  const IndexRange terms = turns_kernel(p.result) ? IndexRange{p.n, p.n_size} : IndexRange{p.k, p.k_size};
  if (!splits_phases(layer, p.result)) return tap_range(layer, terms, tap_channels(layer, p.result), p.blocked);
  const Phase phase = phase_of(layer, p.result, p.m);
  const Side y = vertical(*layer.conv), x = horizontal(*layer.conv);
  TapRange taps{first_met(y, phase.y), first_met(x, phase.x), count_met(y, phase.y), count_met(x, phase.x)};
  taps.channel = terms.first / taps.count();
  taps.channels = terms.size / taps.count();
  return taps;
}

std::vector<IndexRange> cut_taps(const Layer &layer, const IndexRange &range, std::uint32_t channels,
                                 std::uint32_t side) {
  const std::uint32_t row = channels * layer.conv->kernel_width;
  // Ranges begin anew with each run of indices that none may cross.
  std::uint32_t run = range.size, step = side * taps_of(layer);
  if (!layer.channel_blocks && side < channels) {
    run = channels;
    step = side;
  } else if (!takes_blocks(layer, side, channels)) {
    const std::uint32_t unit = side >= row ? row : channels;
    run = side >= row ? range.size : row;
    step = side / unit * unit;
  }
  std::vector<IndexRange> ranges;
  for (std::uint32_t first = range.first; first < range.end(); first += run)
    for (std::uint32_t at = first, end = std::min(first + run, range.end()); at < end; at += step)
      ranges.push_back({at, std::min(step, end - at)});
  return ranges;
}

IndexRange lines_read(const Layer &layer, Tensor result, const IndexRange &rows) {
  const Convolution &conv = *layer.conv;
  const std::uint32_t height = grid_of(conv).height, last = rows.end() - 1;
  const bool turned = turns_kernel(result);
  const Side side = vertical(conv);
  const Moves moves = moves_of(side, result);
  const ImageForm form = turned ? ImageForm{conv.out_width(), conv.out_height()} : image_form(layer);
  const std::int64_t size = form.height, stride = form.phases;
  // Of planes the rows that taps read; a phase of them begins or ends between two rows of the grid.
  const std::int64_t up = stride == 1 ? moves.first : -std::int64_t{side.before};
  const std::int64_t down = stride == 1 ? moves.last : std::int64_t{side.reach()} - side.before;
  const auto row = [&](std::uint32_t grid_row, std::int64_t move) {
    const std::int64_t y = grid_row % height * stride + move;
    return static_cast<std::uint32_t>(grid_row / height * size + std::clamp<std::int64_t>(y, 0, size - 1));
  };
  const std::uint32_t first = row(rows.first, up), end = row(last, down) + 1;
  return {first * form.width, (end - first) * form.width};
}

bool reads_one_row(const Layer &layer, const TileProduct &p) {
  if (!layer.image || layer.packed || p.result != Tensor::kY || p.add || p.blocked) return false;
  if (layer.conv->stride_height != 1 || layer.conv->kernel_height == 1) return false;
  return p.k_size == kernel_channels(layer) * layer.conv->kernel_width && p.k % p.k_size == 0 &&
         rows_of(layer, p.result, {p.m, p.m_size}).size == 1;
}

RowMoves row_moves(const Layer &layer, const TileProduct &p) {
  const IndexRange rows = rows_of(layer, p.result, {p.m, p.m_size});
  const Side side = vertical(*layer.conv);
  if (!reads_one_row(layer, p)) {
    const Moves moves = moves_of(side, p.result);
    return {rows, moves.first, moves.last};
  }
  const std::int64_t move = std::int64_t{taps_of(layer, p).row} * side.dilation - side.before;
  const std::uint32_t height = grid_of(*layer.conv).height, row = rows.first % height;
  const std::int64_t at = row + move, nearest = std::clamp<std::int64_t>(at, 0, side.size - 1);
  return {{static_cast<std::uint32_t>(rows.first - row + nearest), 1}, at - nearest, at - nearest};
}

IndexRange row_read(const Layer &layer, const TileProduct &p) {
  const Convolution &conv = *layer.conv;
  const std::uint32_t height = grid_of(conv).height, row = row_moves(layer, p).rows.first;
  return {(row / height * conv.height + row % height) * conv.width, conv.width};
}

namespace {

/// Of rows of images of `width` x `height` pixels: without a form of its own where these follow one another.
Rect on_grid(const Convolution &conv, const IndexRange &pixels, const IndexRange &cols, std::uint32_t width,
             std::uint32_t height, std::uint32_t stride) {
  Rect rect{pixels.first, cols.first, pixels.size, cols.size};
  const Grid grid = grid_of(conv);
  const std::uint32_t image = width * height;
  const bool one_image = pixels.first / image == (pixels.end() - 1) / image;
  if (stride == 1 && grid.width == width && (grid.height == height || one_image)) return rect;
  rect.pixels = {static_cast<std::uint16_t>(width),      static_cast<std::uint16_t>(height),
                 static_cast<std::uint16_t>(grid.width), static_cast<std::uint16_t>(grid.height),
                 static_cast<std::uint8_t>(stride),      0};
  return rect;
}

} // namespace

Rect pixel_rect(const Layer &layer, Tensor tensor, const IndexRange &pixels, const IndexRange &cols) {
  const Convolution &conv = *layer.conv;
  if (tensor == Tensor::kX) {
    const ImageForm form = image_form(layer);
    return on_grid(conv, pixels, cols, form.width, form.height, form.phases);
  }
  return on_grid(conv, pixels, cols, conv.out_width(), conv.out_height(), 1);
}

Rect gradient_rect(const Layer &layer, const IndexRange &pixels, const IndexRange &cols) {
  const Convolution &conv = *layer.conv;
  const Phase phase = phase_of(layer, Tensor::kDX, pixels.first);
  if (phase.stride == 1) return on_grid(conv, pixels, cols, conv.width, conv.height, 1);
  const IndexRange own{pixels.first - phase.first, pixels.size};
  Rect rect = on_grid(conv, own, cols, conv.width, conv.height, phase.stride);
  rect.pixels.phase = static_cast<std::uint8_t>(1 + phase.y * phase.stride + phase.x);
  return rect;
}

namespace {

Guard guard_around(const Layer &layer, Tensor result, const Rect &tile, const RowMoves &y) {
  const Moves x = moves_of(horizontal(*layer.conv), result);
  const std::int64_t width = line_width(layer);
  const std::uint32_t base = row_of(layer, contraction_of(result).a, tile.row);
  const std::int64_t first = (std::int64_t{y.rows.first} - base) * width, lines = y.rows.size * width;
  const std::int64_t planes = std::int64_t{tile.pixels.stride} * tile.pixels.stride - 1;
  const std::int64_t panel = std::max<std::int64_t>(tile_rows(tile), lines);
  const auto guard = [](std::int64_t wanted) {
    return wanted > 0 ? static_cast<std::uint32_t>(round_up(static_cast<std::uint64_t>(wanted), 2)) : 0;
  };
  return {guard(-(first + y.first * width + x.first)), static_cast<std::uint32_t>(panel),
          guard(first + y.last * width + x.last + planes * plane_rows(tile) + lines - panel)};
}

} // namespace

Guard guard_of(const Layer &layer, Tensor result, const Rect &tile, const IndexRange &rows) {
  const Moves moves = moves_of(vertical(*layer.conv), result);
  return guard_around(layer, result, tile, {rows, moves.first, moves.last});
}

Guard guard_of(const Layer &layer, const TileProduct &p, const Rect &tile) {
  return guard_around(layer, p.result, tile, row_moves(layer, p));
}

} // namespace gradweave::compiler
