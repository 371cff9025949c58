// How Y or dX of a depthwise convolution is cut, and where the tiles of an area lie.
#pragma once

#include "compiler/depthwise/axis.hpp"
#include "compiler/depthwise/work.hpp"
#include "compiler/vector_stream/group/place_tile.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler::depthwise {

/// An image's product along its two axes.
struct ImageWork {
  Axis rows, cols;
  std::size_t batch = 1, channels = 1, taps = 1; ///< channels: of a pixel in memory, gaps included
  std::size_t kernels = 1;                       ///< channels that have weights
  std::uint32_t kernel_width = 1;
  bool fp32 = false;          ///< the result
  std::uint32_t row_step = 1; ///< rows of `rows` from one row of the result to the next: those between are left out
  /// With a stride along the columns: pixels are whole panels, of which a run takes one of each pixel that counts.
  bool by_panels = false;

  std::size_t in_row() const { return cols.in * channels; } ///< elements of a row
  std::size_t out_row() const { return cols.out * channels; }
  std::size_t result_rows() const { return (rows.out - 1) / row_step + 1; }
  std::size_t kernel_height() const { return taps / kernel_width; }
  std::size_t pairs() const { return (taps + 1) / 2; } ///< of weights
  /// Columns of the result lie as they are computed.
  bool is_direct() const { return cols.in_stride == 1 && cols.out_stride == 1; }
};

/// Positions of an area, of each axis; of all phases.
struct ImageArea {
  std::size_t rows = 1, cols = 1;
};

/// A place with an area's tiles, and a region before both places with what all areas use. Where the image is read with
/// a stride, rows of each phase are a tile of their own, and results are computed for all columns, of which only some
/// are taken, unless pixels are whole panels.
struct ImageLayout {
  /// What is cut: of a work with a stride maybe one with all rows, of which some are left out (ImageWork::row_step).
  ImageWork work;
  std::uint64_t cycles = 0; ///< nearly
  ImageArea area;           ///< the largest
  std::size_t width = 0;    ///< pixels computed side by side
  std::size_t in_width = 0; ///< pixels that they read
  std::size_t in_rows = 0;  ///< of each phase
  /// What the area before reads, too, and hands on, so that it is loaded once: of these rows, those at the upper end
  /// where areas have all columns, or columns at the left end where areas have all rows.
  std::size_t kept_rows = 0, kept_cols = 0;
  std::size_t guard = 0; ///< panels before the first column that is loaded
  /// Runs take rows of the image one after the other, with all taps each (image_rows()); else rows of the result, with
  /// a tap or two.
  bool by_rows = false;
  std::size_t copies = 1; ///< of the weights, that are made one by one
  /// What weights are spread from, by the first area alone: results take the place of it. Channels by taps,
  /// parts of the channels side by side.
  PlaceTile weights;
  std::size_t weight_parts = 1;
  /// In the second place: taps by some copies of channels, if there are several pixels. By rows: pairs of taps, once
  /// and some.
  PlaceTile paired, some_copies;
  std::vector<PlaceTile> in, out; ///< by phases of rows
  std::size_t rows = 0;           ///< of a place
  PlaceTile spread, sums;         ///< in the region; taps or pairs of them by copies of all channels
  std::uint32_t region = 0;       ///< its rows, even

  /// Pixels of what is read from the first of so many positions to the last.
  static std::size_t span_of(const ImageWork &work, std::size_t cols) { return work.cols.in_stride * (cols - 1) + 1; }
  /// Pixels computed side by side for so many positions.
  static std::size_t width_of(const ImageWork &work, std::size_t cols) {
    return work.by_panels ? cols : span_of(work, cols);
  }
};

/// The layout of the areas that take the least time, nearly; none fits: nothing.
std::optional<ImageLayout> choose_image_layout(const DepthwiseWork &work, const NpuConfig &npu);

} // namespace gradweave::compiler::depthwise
