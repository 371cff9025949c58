#include "compiler/pooling/window_area.hpp"

#include "compiler/ir/arithmetic.hpp"

namespace gradweave::compiler::pooling {
namespace {

/// Along one axis: pixels of positions, the first of which is `first`.
struct Line {
  std::size_t first = 0, stride = 1, count = 1;

  /// Positions whose pixels are wanted.
  Range positions(const Range &wanted) const {
    if (wanted.size() == 0) return {};
    const std::size_t begin = wanted.first <= first ? 0 : divide_up(wanted.first - first, stride);
    const std::size_t end = wanted.end <= first ? 0 : std::min(count, divide_up(wanted.end - first, stride));
    return {begin, std::max(begin, end)};
  }
  Range pixels(const Range &at) const { return {first + at.first * stride, first + (at.end - 1) * stride + 1}; }
};

class AreaOfWalks {
public:
  explicit AreaOfWalks(const WindowWork &work) : work_(work) {
    area_.positions.resize(work.walks.size());
    area_.pixels.resize(work.values.size());
  }

  WindowArea run(const Box &own) {
    for (std::size_t v = 0; v < work_.values.size(); ++v)
      if (work_.values[v].stored) area_.pixels[v] = own_pixels(work_.values[v], own);
    for (std::size_t w = work_.walks.size(); w-- > 0;)
      add(w);
    return std::move(area_);
  }

private:
  Box own_pixels(const WindowValue &value, const Box &own) const {
    const Extent grid = work_.grid_of(value), s = value.image ? work_.stride : Extent{1, 1};
    return {{own.rows.first * s.rows, std::min(grid.rows, own.rows.end * s.rows)},
            {own.cols.first * s.cols, std::min(grid.cols, own.cols.end * s.cols)}};
  }

  Line rows_of(std::size_t w, const WindowOperand &operand) const {
    const bool image = work_.values[operand.value].image;
    return {operand.row, image ? work_.stride.rows : 1, work_.walks[w].positions.rows};
  }
  Line cols_of(std::size_t w, const WindowOperand &operand) const {
    const bool image = work_.values[operand.value].image;
    return {operand.col, image ? work_.stride.cols : 1, work_.walks[w].positions.cols};
  }

  /// Later walks have said what is wanted.
  void add(std::size_t w) {
    Box &positions = area_.positions[w];
    for (const WindowOperand &operand : work_.walks[w].out) {
      const Box &wanted = area_.pixels[operand.value];
      positions.add({rows_of(w, operand).positions(wanted.rows), cols_of(w, operand).positions(wanted.cols)});
    }
    if (positions.empty()) {
      positions = {};
      return;
    }
    for (const auto *operands : {&work_.walks[w].in, &work_.walks[w].out})
      for (const WindowOperand &operand : *operands)
        area_.pixels[operand.value].add(
            {rows_of(w, operand).pixels(positions.rows), cols_of(w, operand).pixels(positions.cols)});
  }

  const WindowWork &work_;
  WindowArea area_;
};

} // namespace

WindowArea window_area(const WindowWork &work, const Box &own) { return AreaOfWalks(work).run(own); }

Extent positions_of(const WindowWork &work) {
  Extent all;
  for (const WindowValue &value : work.values) {
    if (!value.stored) continue;
    const Extent grid = work.grid_of(value), s = value.image ? work.stride : Extent{1, 1};
    all = {divide_up(grid.rows, s.rows), divide_up(grid.cols, s.cols)};
  }
  return all;
}

} // namespace gradweave::compiler::pooling
