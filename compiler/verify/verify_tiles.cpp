// Tile sizes, and the exact cover of a tensor by rectangles.
#include "compiler/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>

namespace gradweave::compiler {

std::string verify_cover(std::vector<Rect> rects, std::uint32_t rows, std::uint32_t cols, bool complete) {
  std::uint64_t area = 0;
  for (const Rect &r : rects) {
    if (r.rows == 0 || r.cols == 0 || r.row >= rows || r.rows > rows - r.row || r.col >= cols || r.cols > cols - r.col)
      return fmt::format("the tile of {} x {} at ({}, {}) is empty or outside", r.rows, r.cols, r.row, r.col);
    area += static_cast<std::uint64_t>(r.rows) * r.cols;
  }
  // Sweep over the rows; the open rectangles are disjoint intervals of columns.
  std::sort(rects.begin(), rects.end(), [](const Rect &x, const Rect &y) { return x.row < y.row; });
  std::map<std::uint32_t, std::uint32_t> open; // first column to end
  using End = std::pair<std::uint32_t, std::uint32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends; // end row, first column
  for (const Rect &r : rects) {
    for (; !ends.empty() && ends.top().first <= r.row; ends.pop())
      open.erase(ends.top().second);
    const auto next = open.lower_bound(r.col);
    if ((next != open.end() && next->first < r.col + r.cols) ||
        (next != open.begin() && std::prev(next)->second > r.col))
      return fmt::format("the tile of {} x {} at ({}, {}) covers elements that another one does", r.rows, r.cols, r.row,
                         r.col);
    open.emplace(r.col, r.col + r.cols);
    ends.emplace(r.row + r.rows, r.col);
  }
  const std::uint64_t whole = static_cast<std::uint64_t>(rows) * cols;
  if (complete && area != whole) return fmt::format("{} of {} elements are missing", whole - area, whole);
  return {};
}

std::string verify_tiling(const TileShape &tile, const Layer &layer) {
  const auto check = [](char name, std::uint32_t side, std::uint32_t extent) -> std::string {
    if (side == 0 || side > extent || side > kMaxTileSide)
      return fmt::format("tile side {} of {} is {}, not 1 to {}", name, extent, side, std::min(extent, kMaxTileSide));
    return {};
  };
  // M counts lines of the grid where images are read.
  const auto lines = [&] {
    const Convolution &c = *layer.conv;
    const bool same = c.stride_width == 1 && c.out_width() == c.width && c.out_height() == c.height;
    const auto side = [&](std::uint32_t image, std::uint32_t result) {
      return std::max((image + c.stride_width - 1) / c.stride_width, result);
    };
    return same ? layer.m : c.batch * side(c.height, c.out_height()) * side(c.width, c.out_width());
  };
  // The terms of dX, where images are read, are those of all taps.
  const std::uint32_t taps = layer.image ? layer.conv->kernel_height * layer.conv->kernel_width : 1;
  for (const std::string &problem : {check('M', tile.m, layer.image ? lines() : layer.m), check('K', tile.k, layer.k),
                                     check('N', tile.n, layer.n * taps)})
    if (!problem.empty()) return problem;
  return {};
}

} // namespace gradweave::compiler
