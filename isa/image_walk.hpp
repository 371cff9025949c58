// How CONV and WGRAD walk an image that lies in the scratchpad as it is. The geometry: docs/convolution.md.
#pragma once

#include <cstdint>

namespace gradweave::isa {

/// Pixels are lines of a grid, a tile row each; a tap is the same tile, moved by some rows. One tap, and no move, as it
/// stands: an ordinary tile.
struct ImageWalk {
  std::uint32_t taps_y = 1, taps_x = 1;
  std::int32_t off_y = 0, off_x = 0;   ///< pixels of the image from that of the result to that of the first tap
  std::int32_t step_y = 0, step_x = 0; ///< from tap to tap
  std::uint32_t stride = 1;
  std::uint32_t plane = 0; ///< scratchpad rows from one of the stride x stride phase planes to the next,
  bool packed = false;     ///< or columns: all phases lie side by side in a line
  std::uint32_t b_tap = 0; ///< rows of B from tap to tap
  std::uint32_t img_w = 1, img_h = 1;
  std::uint32_t grid_w = 1, grid_h = 1; ///< lines of a row, rows of an image
  std::uint32_t grid_y = 0;             ///< row at which the walk begins
  std::uint32_t out_w = 1, out_h = 1;   ///< WGRAD: the part of the grid that counts

  std::uint32_t taps() const { return taps_y * taps_x; }
};

/// Rows [lo, hi] that a set of moves spans.
struct RowSpan {
  std::int64_t lo = 0, hi = 0;
};

/// The row and the column of the image that tap (`row`, `col`) reads for the pixel (`y`, `x`) of the grid. Outside of
/// the image there is padding.
std::int64_t image_row(const ImageWalk &image, std::uint32_t y, std::uint32_t row);
std::int64_t image_col(const ImageWalk &image, std::uint32_t x, std::uint32_t col);

/// Rows by which tap (`row`, `col`) of the kernel moves A.
std::int64_t tap_shift(const ImageWalk &image, std::uint32_t row, std::uint32_t col);

/// Lanes by which it turns A: one a row, and one a column of the line to a phase that is packed.
std::int64_t tap_turn(const ImageWalk &image, std::uint32_t row, std::uint32_t col);

/// Bounds of tap_shift() over all taps: exact for one plane; with several, any plane at any tap.
RowSpan tap_span(const ImageWalk &image);

} // namespace gradweave::isa
