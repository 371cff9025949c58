// A part of an operator of windows: which positions of its walks there are, and which pixels these need.
#pragma once

#include "compiler/pooling/window_work.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gradweave::compiler::pooling {

/// From `first` up to but not with `end`.
struct Range {
  std::size_t first = 0, end = 0;

  std::size_t size() const { return end - std::min(first, end); }
  /// The least range that has both.
  void add(const Range &other) {
    if (other.size() == 0) return;
    *this = size() == 0 ? other : Range{std::min(first, other.first), std::max(end, other.end)};
  }
};

struct Box {
  Range rows, cols;

  bool empty() const { return rows.size() == 0 || cols.size() == 0; }
  void add(const Box &other) {
    if (other.empty()) return;
    if (empty()) *this = {};
    rows.add(other.rows);
    cols.add(other.cols);
  }
};

struct WindowArea {
  std::vector<Box> positions; ///< of each walk; empty: it has nothing to do with the area
  std::vector<Box> pixels;    ///< of each value, in its grid: those that walks read or write, and maybe others between
};

/// The area that gives the pixels of the op's result whose positions, counted in pixels of the smaller grid, are in
/// `own`.
WindowArea window_area(const WindowWork &work, const Box &own);

/// Positions of all areas together.
Extent positions_of(const WindowWork &work);

} // namespace gradweave::compiler::pooling
