// Which pixels the lines of a grid are, and which a tap reads for them: the definition of a convolution, pixel by
// pixel. Nothing of it is shared with the passes that are verified.
#pragma once

#include "graph/network.hpp"

#include <cstdint>
#include <optional>

namespace gradweave::compiler {

/// Lines of a grid that begin with a row of it, and the pixels that they are: every stride-th of the images of a
/// tensor, a phase.
struct Lines {
  std::uint32_t grid_w = 0, grid_h = 0;   ///< lines of a row, rows of an image; 0: lines are pixels one after the other
  std::uint32_t width = 0, height = 0;    ///< of the phase; beyond them lines are gaps
  std::uint32_t stride = 1, y = 0, x = 0; ///< of the phase
  std::uint32_t tensor_w = 0, tensor_h = 0; ///< pixels of the tensor's images
  std::uint32_t image = 0, row = 0;         ///< of the first line, and its row of the image's grid

  bool operator==(const Lines &o) const {
    return grid_w == o.grid_w && grid_h == o.grid_h && width == o.width && height == o.height && stride == o.stride &&
           y == o.y && x == o.x && tensor_w == o.tensor_w && tensor_h == o.tensor_h && image == o.image && row == o.row;
  }
  /// Place in the phase's grid.
  struct At {
    std::uint32_t image = 0, y = 0, x = 0;
  };
  At at(std::uint32_t line) const {
    const std::uint32_t all = row + line / grid_w;
    return {image + all / grid_h, all % grid_h, line % grid_w};
  }
  /// Whether the line there is a pixel, and no gap.
  bool has(const At &place) const { return place.x < width && place.y < height; }
  /// Row of the tensor; nothing in a gap.
  std::optional<std::uint32_t> pixel(std::uint32_t line) const;
  /// Lines that are pixels, of so many.
  std::uint32_t pixels(std::uint32_t lines) const;
  /// Whether so many lines are pixels that follow one another in the tensor.
  bool plain(std::uint32_t lines) const;
};

/// The lines of Y, dY or dX of a layer that reads images, from the row of the grid on in which a pixel of the tensor
/// is.
Lines lines_from(const Layer &layer, bool turned, std::uint32_t pixel);

/// A pixel that a tap reads.
struct TapPixel {
  bool meets = false;    ///< of a transposed convolution with a stride: the tap reads something in this phase
  bool inside = false;   ///< the image; else it is padding
  std::uint32_t row = 0; ///< of the tensor
  std::uint32_t col = 0; ///< of the tensor, where the pixel's channels begin
};
/// Of X for a pixel of Y, or `turned` of dY for a pixel of dX; the tap in row `ky`, column `kx` of the kernel.
TapPixel tap_pixel(const Layer &layer, bool turned, const Lines &lines, const Lines::At &at, std::uint32_t ky,
                   std::uint32_t kx);

/// Of places in a row; none if equal.
struct PlaceRun {
  std::uint32_t first = 0, end = 0;
  bool empty() const { return first == end; }
  bool operator==(const PlaceRun &o) const { return first == o.first && end == o.end; }
};
/// Those of `count` places that are from 0 to `size`: the first is `at`, each a step behind the one before.
PlaceRun places_inside(std::int64_t at, std::int64_t step, std::int64_t size, std::uint32_t count);

/// The pixels that a tap reads for a row of the phase, or for some of it from its first pixel on.
struct TapRow {
  PlaceRun inside;        ///< of the row's pixels those whose taps are inside the image
  TapPixel pixel;         ///< of the first of them; as they do, all or none meet the phase
  std::uint32_t step = 0; ///< rows of the tensor from one's to the next's
};
/// The same as tap_pixel() for the first `count` pixels, at most all, of the row that `at` is in.
TapRow tap_row(const Layer &layer, bool turned, const Lines &lines, const Lines::At &at, std::uint32_t ky,
               std::uint32_t kx, std::uint32_t count);

} // namespace gradweave::compiler
