// Convolutions whose products read images where they lie: how pixels are lines of tiles, and what of an image a product
// reads (docs/convolution.md).
#pragma once

#include "compiler/ir/grid/grid.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gradweave::compiler {

/// Whether commands can compute the convolution from its images as they lie: with one stride of 1 to 3 and taps that
/// meet every phase of it, padding of less than the kernel, and sizes that their fields hold. One that reads each pixel
/// once needs none.
bool can_read_image(const Convolution &conv);

/// Why it cannot, in a few words; empty: it can.
std::string_view unreadable_image(const Convolution &conv);

/// Taps of the kernel of a layer that reads images; likewise all below.
std::uint32_t taps_of(const Layer &layer);
/// Channels that W has of each tap, in a group.
std::uint32_t kernel_channels(const Layer &layer);
/// Lines of a row of the grid: tiles of pixels are whole rows.
std::uint32_t line_width(const Layer &layer);
/// Whether dX has phases, which are products of their own with the taps that meet them.
bool splits_phases(const Layer &layer, Tensor result);
/// Channels of a group of what the product reads in each tap: X's for Y and dW, dY's for dX.
std::uint32_t tap_channels(const Layer &layer, Tensor result);

/// A part of W's rows, or of the terms of Y or dX: several taps with all their channels, or all taps with some, or some
/// channels of one tap. Several rows of the kernel are whole.
struct TapRange {
  std::uint32_t row = 0, col = 0;   ///< first tap
  std::uint32_t rows = 1, cols = 1; ///< taps
  std::uint32_t channel = 0, channels = 0;
  std::uint32_t count() const { return rows * cols; }
};
/// `range` counts `channels` indices a tap. `blocked`: it has all taps of some channels, and counts all taps of those
/// before it.
TapRange tap_range(const Layer &layer, const IndexRange &range, std::uint32_t channels, bool blocked);
/// Whether tiles with a side of so many terms have some channels of all taps, which then are taken in blocks.
inline bool takes_blocks(const Layer &layer, std::uint32_t side, std::uint32_t channels) {
  return layer.channel_blocks && side < channels;
}
/// Of a product: those that its terms are, or of dW its rows. Of dX with a stride these are the taps that meet its
/// phase, in the order of the kernel.
TapRange taps_of(const Layer &layer, const TileProduct &p);
/// Of all taps, those that meet the phase of dX in which a pixel is.
std::uint32_t taps_met(const Layer &layer, const Phase &phase);
/// Cuts `range` into ranges of at most `side` that are taps with all their channels; where these are more, into blocks
/// of `side` channels, or, if the layer takes none, into runs of channels of one tap.
std::vector<IndexRange> cut_taps(const Layer &layer, const IndexRange &range, std::uint32_t channels,
                                 std::uint32_t side);

/// Of the operand image that a product of `result` reads: the pixels of all rows that taps move to from rows of the
/// grid, as far as they belong to the same image.
IndexRange lines_read(const Layer &layer, Tensor result, const IndexRange &rows);

/// From where to where a product's taps move along the columns of the image.
struct RowMoves {
  IndexRange rows;                  ///< of the grid: where they begin
  std::int64_t first = 0, last = 0; ///< rows to the first and to the last tap
};
/// Whether the product of Y has one row of the grid and one row of the kernel, and the image no phases: it reads one
/// row of the image, and its tile is that row. So rows of an image can come and go one by one.
bool reads_one_row(const Layer &layer, const TileProduct &p);
/// Of the product: where it reads one row of the image, from that row on, without a move. In padding, from the nearest.
RowMoves row_moves(const Layer &layer, const TileProduct &p);
/// Pixels of the row of the image that such a product reads; in padding, those of the nearest row.
IndexRange row_read(const Layer &layer, const TileProduct &p);

/// The rectangle of those pixels of X, dY or Y, and of columns, as the commands want it to lie.
Rect pixel_rect(const Layer &layer, Tensor tensor, const IndexRange &pixels, const IndexRange &cols);
/// Likewise of dX's, which are counted phase by phase.
Rect gradient_rect(const Layer &layer, const IndexRange &pixels, const IndexRange &cols);

/// Scratchpad rows before the first and behind the last row of a tile that taps move to. What is there is masked, but
/// it has to be in the scratchpad. And the rows from panel to panel: no fewer than a command's lines.
struct Guard {
  std::uint32_t before = 0, panel = 0, behind = 0;
};
/// Of the tile that has the rectangle of the operand image, for a product of rows of the grid; even numbers but for
/// panels.
Guard guard_of(const Layer &layer, Tensor result, const Rect &tile, const IndexRange &rows);
/// Likewise, for the product.
Guard guard_of(const Layer &layer, const TileProduct &p, const Rect &tile);

} // namespace gradweave::compiler
