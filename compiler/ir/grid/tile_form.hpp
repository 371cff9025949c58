// Forms of tiles: what many tiles of a program have in common is kept once.
#pragma once

#include "compiler/ir/tile.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Scratchpad rows [first, first + rows).
struct RowRange {
  std::uint32_t first = 0, rows = 0;
  std::uint32_t end() const { return first + rows; }
};

/// A tile in the scratchpad; panels follow one another without gaps. Or some rows of one, in each of its panels.
struct Place {
  RowRange rows; ///< of a part those in the first panel
  std::uint32_t pstride = 0;
  std::uint32_t guard = 0;  ///< rows before the first of the tile
  std::uint32_t panels = 0; ///< of a part of a tile; 0: all of it
  std::uint32_t rot = 0;    ///< lane of the first element of the first row

  /// Calls f with each run of rows that follow one another.
  template <typename F> void for_runs(const F &f) const {
    if (panels == 0) return f(rows);
    for (std::uint32_t panel = 0; panel < panels; ++panel)
      f(RowRange{rows.first + panel * pstride, rows.rows});
  }
};

/// A rectangle and a place, but for where they begin.
struct TileForm {
  std::uint32_t rows = 0, cols = 0; ///< of the rectangle, likewise those below
  TapRuns taps = {};
  PixelGrid pixels = {};
  std::uint32_t lines = 0;      ///< rows of the tile in each panel, without a guard (tile_rows()), where it begins
  std::uint32_t place_rows = 0; ///< of the place, likewise those below
  std::uint32_t pstride = 0, guard = 0, panels = 0, rot = 0;

  TileForm() = default;
  TileForm(const Rect &rect, const Place &place);
  Rect rect(std::uint32_t row, std::uint32_t col) const { return {row, col, rows, cols, taps, pixels}; }
  Place place(std::uint32_t row) const { return {{row, place_rows}, pstride, guard, panels, rot}; }
  /// Whether rectangles that begin alike are the same.
  bool same_rect(const TileForm &o) const {
    return rows == o.rows && cols == o.cols && taps == o.taps && pixels == o.pixels;
  }
  bool operator==(const TileForm &o) const {
    return same_rect(o) && lines == o.lines && place_rows == o.place_rows && pstride == o.pstride && guard == o.guard &&
           panels == o.panels && rot == o.rot;
  }
};

/// Distinct forms, by number; number 0 is that of no tile.
class TileForms {
public:
  TileForms() : forms_(1), slots_(16, 0) {}

  /// The form's number, a new one if it is new.
  std::uint32_t number_of(const TileForm &form);
  std::uint32_t number_of(const Rect &rect, const Place &place) { return number_of(TileForm(rect, place)); }
  const TileForm &operator[](std::uint32_t number) const { return forms_[number]; }
  std::size_t size() const { return forms_.size(); }

private:
  std::uint32_t &slot_of(const TileForm &form);
  void grow();

  std::vector<TileForm> forms_;
  std::vector<std::uint32_t> slots_; ///< numbers, by a hash of the form, or the next that is free; 0: none
};

} // namespace gradweave::compiler
