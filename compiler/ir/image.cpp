#include "compiler/ir/image.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "isa/command.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// How far taps move from a pixel, in rows and columns.
struct Reach {
  std::uint32_t up = 0, down = 0, left = 0, right = 0;
};

Reach reach_of(const Convolution &conv, Tensor result) {
  const std::uint32_t rows = (conv.kernel_height - 1) * conv.dilation_height;
  const std::uint32_t cols = (conv.kernel_width - 1) * conv.dilation_width;
  if (turns_kernel(result)) return {rows - conv.pad_top, conv.pad_top, cols - conv.pad_left, conv.pad_left};
  return {conv.pad_top, rows - conv.pad_top, conv.pad_left, cols - conv.pad_left};
}

bool fits(const isa::Field &field, std::uint64_t value) { return value >> field.width == 0; }

} // namespace

std::string_view unreadable_image(const Convolution &c) {
  if (c.is_pointwise()) return "1 x 1";
  if (c.stride_height != 1 || c.stride_width != 1) return "stride";
  if (c.out_height() != c.height || c.out_width() != c.width) return "result of another size";
  const std::uint64_t rows = (std::uint64_t{c.kernel_height} - 1) * c.dilation_height;
  const std::uint64_t cols = (std::uint64_t{c.kernel_width} - 1) * c.dilation_width;
  // Moves are signed.
  const bool walks = fits(isa::field::TAPS_Y, c.kernel_height) && fits(isa::field::TAPS_X, c.kernel_width) &&
                     fits(isa::field::OFF_Y, 2 * rows) && fits(isa::field::OFF_X, 2 * cols) &&
                     fits(isa::field::GRID_W, c.width) && fits(isa::field::GRID_H, c.height);
  const bool tiles = std::uint64_t{c.k()} < kMaxTileSide &&
                     std::uint64_t{c.kernel_height} * c.kernel_width * c.n() < kMaxTileSide &&
                     (rows + 1) * c.width < kMaxTileSide;
  return walks && tiles ? "" : "too large for a command's fields";
}

bool can_read_image(const Convolution &conv) { return unreadable_image(conv).empty(); }

std::uint32_t taps_of(const Layer &layer) { return layer.conv->kernel_height * layer.conv->kernel_width; }

std::uint32_t kernel_channels(const Layer &layer) { return layer.k / taps_of(layer); }

std::uint32_t line_width(const Layer &layer) { return layer.conv->width; }

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

std::vector<IndexRange> cut_taps(const Layer &layer, const IndexRange &range, std::uint32_t channels,
                                 std::uint32_t side) {
  const std::uint32_t row = channels * layer.conv->kernel_width;
  // Ranges begin anew with each run of indices that none may cross.
  std::uint32_t run = range.size, step = side * taps_of(layer);
  if (!takes_blocks(side, channels)) {
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

IndexRange lines_read(const Layer &layer, Tensor result, const IndexRange &lines) {
  const Convolution &conv = *layer.conv;
  const Reach reach = reach_of(conv, result);
  const std::uint32_t first = lines.first / conv.width, last = (lines.end() - 1) / conv.width;
  const std::uint32_t above = std::min(reach.up, first % conv.height);
  const std::uint32_t below = std::min(reach.down, conv.height - 1 - last % conv.height);
  return {(first - above) * conv.width, (last + below + 1 - (first - above)) * conv.width};
}

Guard guard_of(const Layer &layer, Tensor result, const IndexRange &read, const IndexRange &lines) {
  const Reach reach = reach_of(*layer.conv, result);
  const std::uint32_t width = layer.conv->width;
  const std::uint32_t before = reach.up * width + reach.left, behind = reach.down * width + reach.right;
  const std::uint32_t above = lines.first - read.first, below = read.end() - lines.end();
  const auto guard = [](std::uint32_t wanted, std::uint32_t there) {
    return wanted > there ? static_cast<std::uint32_t>(round_up(wanted - there, 2)) : 0;
  };
  return {guard(before, above), guard(behind, below)};
}

} // namespace gradweave::compiler
