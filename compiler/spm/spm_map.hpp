// Which rows of the scratchpad hold which tile, and what it would cost to reuse them.
#pragma once

#include "compiler/ir/program.hpp"
#include "compiler/spm/cheapest_run.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace gradweave::compiler {

/// When rows were last used, counted in tile products; -1: never.
struct LastUse {
  std::int32_t compute = -1; ///< product whose GEMM touched them
  std::int32_t store = -1;   ///< product after which a STORE of them was issued
};

/// The scratchpad as a sequence of segments, each live (holds a tile) or dead.
class SpmMap {
public:
  static constexpr std::int32_t kDead = -1;
  struct Segment {
    RowRange rows;
    std::int32_t tile = kDead;
    LastUse last; ///< dead segments only; the owner keeps a live tile's
  };

  explicit SpmMap(std::uint32_t rows) { clear(rows, {}); }

  /// One dead segment.
  void clear(std::uint32_t rows, LastUse last) { segments_.assign(1, {{0, rows}, kDead, last}); }

  /// Cheapest run of `rows` rows inside `area`, by the sum over the segments it touches and its position. Ties go to
  /// the lowest row, or the highest if `from_top`.
  /// `cost`: what it would cost to take a segment, not negative; infinity: must not be touched.
  /// `position`: what it would cost to lie at these rows, whatever holds them now.
  template <typename SegmentCost, typename PositionCost>
  std::optional<std::uint32_t> cheapest(std::uint32_t rows, RowRange area, const SegmentCost &cost,
                                        const PositionCost &position, bool from_top) const;

  /// Gives rows to a tile. What it overlaps of dead segments is cut off; live tiles it overlaps are passed to `evict`,
  /// whose result their remaining rows keep as dead segments.
  template <typename Evict> void occupy(RowRange rows, std::int32_t tile, const Evict &evict);

  /// Turns a live tile's segment into a dead one.
  void release(std::uint32_t first_row, LastUse last);

  const std::vector<Segment> &segments() const { return segments_; }
  /// Segments that cheapest() has looked at.
  std::uint64_t visits() const { return visits_; }

private:
  std::size_t find(std::uint32_t row) const;
  std::vector<Segment> segments_;               ///< ascending, without gaps
  mutable std::vector<VisitedSegment> visited_; ///< of cheapest(), which is called too often to allocate
  mutable std::uint64_t visits_ = 0;
};

template <typename SegmentCost, typename PositionCost>
std::optional<std::uint32_t> SpmMap::cheapest(std::uint32_t rows, RowRange area, const SegmentCost &cost,
                                              const PositionCost &position, bool from_top) const {
  if (rows > area.rows) return std::nullopt;
  const std::size_t begin = find(area.first), last = find(area.end() - 1);
  const auto search = [&](auto run) {
    const std::optional<std::uint32_t> row = run.run();
    visits_ += run.visits();
    return row;
  };
  if (from_top)
    return search(CheapestRun<true, Segment, SegmentCost, PositionCost>(segments_, begin, last, rows, area, cost,
                                                                        position, visited_));
  return search(CheapestRun<false, Segment, SegmentCost, PositionCost>(segments_, begin, last, rows, area, cost,
                                                                       position, visited_));
}

template <typename Evict> void SpmMap::occupy(RowRange rows, std::int32_t tile, const Evict &evict) {
  const std::size_t begin = find(rows.first);
  std::size_t end = begin;
  std::array<Segment, 3> replacement; // what is left before the tile, the tile, and what is left behind it
  std::size_t count = 0;
  Segment tail;
  for (; end < segments_.size() && segments_[end].rows.first < rows.end(); ++end) {
    Segment s = segments_[end];
    if (s.tile != kDead) s = {s.rows, kDead, evict(s.tile)};
    if (s.rows.first < rows.first) replacement[count++] = {{s.rows.first, rows.first - s.rows.first}, kDead, s.last};
    if (s.rows.end() > rows.end()) tail = {{rows.end(), s.rows.end() - rows.end()}, kDead, s.last};
  }
  replacement[count++] = {rows, tile, {}};
  if (tail.rows.rows > 0) replacement[count++] = tail;
  const auto first = segments_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto old = static_cast<std::ptrdiff_t>(end - begin), now = static_cast<std::ptrdiff_t>(count);
  std::copy_n(replacement.begin(), std::min(old, now), first);
  if (now < old)
    segments_.erase(first + now, first + old);
  else
    segments_.insert(first + old, replacement.begin() + old, replacement.begin() + now);
}

} // namespace gradweave::compiler
