#include "compiler/ir/grid/tile_rows.hpp"

#include "compiler/ir/arithmetic.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// The rectangle's pixels as rows of images, of a phase or of all of it.
struct ImageRows {
  std::uint32_t width = 0, height = 0; ///< of an image
  std::uint32_t first = 0, count = 0;  ///< of all images
};

std::uint32_t phase_y(const PixelGrid &p) { return p.phase == 0 ? 0 : (p.phase - 1U) / p.stride; }
std::uint32_t phase_x(const PixelGrid &p) { return p.phase == 0 ? 0 : (p.phase - 1U) % p.stride; }

ImageRows image_rows(const Rect &rect) {
  const PixelGrid &p = rect.pixels;
  ImageRows rows{p.width, p.height};
  if (p.phase != 0) rows = {count_every(p.stride, phase_x(p), p.width), count_every(p.stride, phase_y(p), p.height)};
  rows.first = rect.row / rows.width;
  rows.count = rect.rows / rows.width;
  return rows;
}

/// Row of the grid that a row of the images lies in.
std::uint32_t grid_row(const Rect &rect, const ImageRows &rows, std::uint32_t row) {
  const std::uint32_t phases = rect.pixels.phase == 0 ? rect.pixels.stride : 1U;
  return row / rows.height * rect.pixels.grid_height + row % rows.height / phases;
}

bool has_planes(const Rect &rect) { return rect.pixels.phase == 0 && rect.pixels.stride > 1; }
bool has_pixels(const Rect &rect) { return rect.pixels.width != 0; }

std::uint32_t grid_rows_of(const Rect &rect) {
  const ImageRows rows = image_rows(rect);
  return grid_row(rect, rows, rows.first + rows.count - 1) + 1 - grid_row(rect, rows, rows.first);
}

/// Planes: of each row of an image the pixels of each phase. Else whole images, if no row has a gap, or whole rows.
void pixel_runs(const Rect &rect, std::vector<RowRun> &runs) {
  const PixelGrid &p = rect.pixels;
  const ImageRows rows = image_rows(rect);
  const std::uint32_t base = grid_row(rect, rows, rows.first), plane = plane_rows(rect);
  for (std::uint32_t row = rows.first, count = 0; row < rows.first + rows.count; row += count) {
    const std::uint32_t at = (grid_row(rect, rows, row) - base) * p.grid_width, y = row % rows.height;
    count = 1;
    if (has_planes(rect)) {
      for (std::uint32_t x = 0; x < std::min<std::uint32_t>(p.stride, p.width); ++x)
        runs.push_back({row * p.width + x, p.stride, count_every(p.stride, x, p.width),
                        (y % p.stride * p.stride + x) * plane + at});
    } else if (p.phase != 0) {
      const std::uint32_t image_row = row / rows.height * p.height + y * p.stride + phase_y(p);
      runs.push_back({image_row * p.width + phase_x(p), p.stride, rows.width, at});
    } else {
      if (p.grid_width == p.width) count = std::min(rows.height - y, rows.first + rows.count - row);
      runs.push_back({row * p.width, 1, count * p.width, at});
    }
  }
}

} // namespace

std::uint32_t plane_rows(const Rect &rect) {
  return has_planes(rect) ? grid_rows_of(rect) * rect.pixels.grid_width : 0;
}

std::uint32_t tile_rows(const Rect &rect) {
  if (!has_pixels(rect)) return rect.rows;
  if (has_planes(rect)) return plane_rows(rect) * rect.pixels.stride * rect.pixels.stride;
  return (grid_rows_of(rect) - 1) * rect.pixels.grid_width + image_rows(rect).width;
}

std::vector<RowRun> row_runs(const Rect &rect, std::uint32_t tap) {
  std::vector<RowRun> runs;
  if (has_pixels(rect)) {
    pixel_runs(rect, runs);
  } else if (const TapRuns &taps = rect.taps; taps.rows != 0) {
    for (std::uint32_t run = 0; run * taps.rows < rect.rows; ++run)
      runs.push_back({rect.row + (run / taps.across * taps.down + run % taps.across * taps.right) * tap, 1, taps.rows,
                      run * taps.rows});
  } else {
    runs.push_back({rect.row, 1, rect.rows, 0});
  }
  return runs;
}

std::uint32_t run_count(const Rect &rect) {
  if (!has_pixels(rect)) return rect.taps.rows == 0 ? 1 : rect.rows / rect.taps.rows;
  const PixelGrid &p = rect.pixels;
  const ImageRows rows = image_rows(rect);
  if (has_planes(rect)) return rows.count * std::min<std::uint32_t>(p.stride, p.width);
  if (p.phase != 0 || p.grid_width != p.width) return rows.count;
  return (rows.first + rows.count - 1) / rows.height + 1 - rows.first / rows.height;
}

void tensor_rows(const Rect &rect, std::uint32_t &first, std::uint32_t &end) {
  first = rect.row;
  end = rect.row + rect.rows;
  const PixelGrid &p = rect.pixels;
  if (p.phase == 0) return;
  const ImageRows rows = image_rows(rect);
  const auto image_row = [&](std::uint32_t row) {
    return row / rows.height * p.height + row % rows.height * p.stride + phase_y(p);
  };
  first = image_row(rows.first) * p.width + phase_x(p);
  end = (image_row(rows.first + rows.count - 1) + 1) * p.width;
}

} // namespace gradweave::compiler
