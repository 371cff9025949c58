// Which rows of the scratchpad hold which tile, and what it would cost to reuse them.
#pragma once

#include "compiler/ir/program.hpp"

#include <algorithm>
#include <functional>
#include <limits>
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
  void occupy(RowRange rows, std::int32_t tile, const std::function<LastUse(std::int32_t)> &evict);

  /// Turns a live tile's segment into a dead one.
  void release(std::uint32_t first_row, LastUse last);

  const std::vector<Segment> &segments() const { return segments_; }
  /// Segments that cheapest() has looked at.
  std::uint64_t visits() const { return visits_; }

private:
  /// Of the segments that a search has visited, in its order.
  struct Visited {
    double cost = 0, sum = 0;   ///< sum: of the finite costs up to here
    std::uint32_t infinite = 0; ///< costs up to here
  };

  std::size_t find(std::uint32_t row) const;
  std::vector<Segment> segments_;        ///< ascending, without gaps
  mutable std::vector<Visited> visited_; ///< of cheapest(), which is called too often to allocate
  mutable std::uint64_t visits_ = 0;
};

template <typename SegmentCost, typename PositionCost>
std::optional<std::uint32_t> SpmMap::cheapest(std::uint32_t rows, RowRange area, const SegmentCost &cost,
                                              const PositionCost &position, bool from_top) const {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  // Rounding leaves differences of sums this exact.
  constexpr double kRounding = 1e-9;
  if (rows > area.rows) return std::nullopt;
  // Segments are visited from the side that wins ties, so that a run which costs nothing ends the search.
  const std::size_t begin = find(area.first), last = find(area.end() - 1);
  const auto turn = [&](std::size_t segment) { return 1 + (from_top ? last - segment : segment - begin); };
  visited_.resize(1); // nothing
  const auto visit = [&](std::size_t until) {
    for (std::size_t n = visited_.size(); n <= until; ++n) {
      const double c = cost(segments_[from_top ? last + 1 - n : begin + n - 1]);
      const Visited &before = visited_.back();
      visited_.push_back({c, before.sum + (c < kInfinite ? c : 0), before.infinite + (c < kInfinite ? 0 : 1)});
    }
  };

  double best = kInfinite;
  std::optional<std::uint32_t> best_row;
  // A run that begins in segment `low` and ends in `high`. Sums are taken the same way for all runs, so that those of
  // equal cost are equal; only what differs beyond doubt is told from the visit's sums.
  const auto consider = [&](std::uint32_t first, std::size_t low, std::size_t high) {
    const std::size_t start = std::min(turn(low), turn(high)), end = std::max(turn(low), turn(high));
    visit(end);
    const Visited &before = visited_[start - 1], &after = visited_[end];
    const double about = after.sum - before.sum;
    if (after.infinite != before.infinite || about > best + kRounding * after.sum) return;
    double sum = 0;
    if (about > 0)
      for (std::size_t i = low; i <= high && sum <= best; ++i)
        sum += visited_[turn(i)].cost;
    if (sum <= best) sum += position(RowRange{first, rows});
    if (sum < best || (sum == best && best_row && (from_top ? first > *best_row : first < *best_row))) {
      best = sum;
      best_row = first;
    }
  };
  const auto move_to = [&](std::size_t &segment, std::uint32_t row) {
    while (segments_[segment].rows.first > row)
      --segment;
    while (segments_[segment].rows.end() <= row)
      ++segment;
  };
  // A cheapest run can always be slid until it begins or ends at a segment's edge.
  std::size_t low = from_top ? last : begin, high = low;
  for (std::size_t n = 0; n <= last - begin; ++n) {
    const std::size_t i = from_top ? last - n : begin + n;
    const std::uint32_t first = std::max(segments_[i].rows.first, area.first);
    const std::uint32_t end = std::min(segments_[i].rows.end(), area.end());
    if (best == 0 && (from_top ? first <= *best_row && end <= *best_row + rows : end >= *best_row + rows)) break;
    if (first + rows <= area.end()) {
      move_to(high, first + rows - 1);
      consider(first, i, high);
    }
    if (end >= area.first + rows) {
      move_to(low, end - rows);
      consider(end - rows, low, i);
    }
  }
  visits_ += visited_.size();
  return best_row;
}

} // namespace gradweave::compiler
