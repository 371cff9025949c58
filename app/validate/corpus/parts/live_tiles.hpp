// The tiles that a random stream has in the scratchpad, and where there is room for more.
#pragma once

#include "base/random/dice.hpp"
#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::corpus {

/// Scratchpad rows of a tile row.
constexpr std::uint32_t height_of(bool fp32) { return fp32 ? 2 : 1; }

/// A tile in the scratchpad all of whose elements are defined and of one type.
struct Object {
  isa::SpmTile tile;
  std::uint32_t rows = 0, cols = 0;
  bool fp32 = false;
  std::uint32_t end = 0; ///< first row behind it, gaps between panels included

  std::uint64_t size() const { return std::uint64_t{rows} * cols; }
  bool overlaps(const Object &o) const { return tile.row < o.end && o.tile.row < end; }
};

/// Part of an object.
struct Part {
  isa::SpmTile tile;
  std::uint32_t rows = 0, cols = 0;
};

inline bool same(const isa::SpmTile &a, const isa::SpmTile &b) {
  return a.row == b.row && a.rot == b.rot && a.pstride == b.pstride;
}
inline bool same(const Object &a, const Object &b) {
  return same(a.tile, b.tile) && a.end == b.end && a.fp32 == b.fp32 && a.rows == b.rows && a.cols == b.cols;
}

/// No live tile shares a row with another.
class LiveTiles {
public:
  LiveTiles(const NpuConfig &config, Dice &dice);

  /// Rows of the scratchpad in which tiles are placed.
  std::uint32_t window_rows() const { return end_row_ - first_row_; }

  const std::vector<Object> &all() const { return objects_; }
  /// Those of a type.
  std::size_t count(bool fp32) const;
  bool is_live(const Object &o) const;

  /// One of them; there must be one.
  const Object &pick_any() { return objects_[dice_.below(objects_.size())]; }
  /// One of the type, the larger of two more often.
  const Object &pick(bool fp32);

  /// A place for a new tile, away from `avoid`, that spares live ones if chance offers one of a few; nothing if there
  /// is no room.
  std::optional<Object> place(std::uint32_t rows, std::uint32_t cols, bool fp32, const std::vector<Object> &avoid);
  void add(const Object &o) { objects_.push_back(o); }
  void remove_overlapping(const Object &o);
  /// Small tiles fill the gaps between others and live long; without this they would soon be all there is.
  Object remove_smallest();

  /// A part of any size.
  Part part_of(const Object &o);
  /// A part of the given size. Parts across panels start at a panel: the layout can express no others.
  Part part_of(const Object &o, std::uint32_t rows, std::uint32_t cols);

private:
  std::optional<Object> place_once(std::uint32_t rows, std::uint32_t cols, bool fp32, const std::vector<Object> &avoid);

  Dice &dice_;
  std::uint32_t lanes_, first_row_, end_row_;
  std::vector<Object> objects_;
};

/// `limit`, or a size up to it.
std::uint32_t up_to(std::uint32_t limit, Dice &dice);

} // namespace gradweave::corpus
