// The search for the run of scratchpad rows that is cheapest to take.
#pragma once

#include "compiler/ir/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace gradweave::compiler {

/// A segment that the search has looked at, in its order.
struct VisitedSegment {
  double cost = 0, sum = 0;   ///< sum: of the finite costs up to here
  std::uint32_t infinite = 0; ///< costs up to here
};

/// One search, in `area` of the segments [begin, last] (ascending, without gaps) for `rows` rows. See
/// SpmMap::cheapest().
template <bool kFromTop, typename Segment, typename SegmentCost, typename PositionCost> class CheapestRun {
public:
  /// `visited`: room for the search to work in.
  CheapestRun(const std::vector<Segment> &segments, std::size_t begin, std::size_t last, std::uint32_t rows,
              RowRange area, const SegmentCost &cost, const PositionCost &position,
              std::vector<VisitedSegment> &visited)
      : segments_(segments.data()), begin_(begin), last_(last), rows_(rows), area_(area), cost_(cost),
        position_(position) {
    if (visited.size() < last - begin + 2) visited.resize(2 * (last - begin + 2));
    visited_ = visited.data();
    visited_[0] = {}; // nothing
  }

  std::optional<std::uint32_t> run() {
    // A cheapest run can always be slid until it begins or ends at a segment's edge. Segments are visited from the side
    // that wins ties, so that a run which costs nothing ends the search.
    std::size_t low = kFromTop ? last_ : begin_, high = low;
    for (std::size_t n = 0; n <= last_ - begin_; ++n) {
      const std::size_t i = kFromTop ? last_ - n : begin_ + n;
      const std::uint32_t first = std::max(segments_[i].rows.first, area_.first);
      const std::uint32_t end = std::min(segments_[i].rows.end(), area_.end());
      if (best_ == 0 && (kFromTop ? first <= best_row_ && end <= best_row_ + rows_ : end >= best_row_ + rows_)) break;
      if (first + rows_ <= area_.end()) {
        move_to(high, first + rows_ - 1);
        consider(first, i, high);
      }
      if (end >= area_.first + rows_) {
        move_to(low, end - rows_);
        consider(end - rows_, low, i);
      }
    }
    return found_ ? std::optional<std::uint32_t>(best_row_) : std::nullopt;
  }

  /// Segments that were looked at, and one.
  std::size_t visits() const { return visits_; }

private:
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();
  /// Rounding leaves differences of sums this exact.
  static constexpr double kRounding = 1e-9;

  /// Position of a segment in the order of visits.
  std::size_t turn(std::size_t segment) const { return 1 + (kFromTop ? last_ - segment : segment - begin_); }

  void visit(std::size_t until) {
    for (; visits_ <= until; ++visits_) {
      const double c = cost_(segments_[kFromTop ? last_ + 1 - visits_ : begin_ + visits_ - 1]);
      const VisitedSegment &before = visited_[visits_ - 1];
      visited_[visits_] = {c, before.sum + (c < kInfinite ? c : 0), before.infinite + (c < kInfinite ? 0 : 1)};
    }
  }

  /// A run that begins in segment `low` and ends in `high`. Sums are taken the same way for all runs, so that those of
  /// equal cost are equal; only what differs beyond doubt is told from the visit's sums.
  void consider(std::uint32_t first, std::size_t low, std::size_t high) {
    const std::size_t start = kFromTop ? turn(high) : turn(low), end = kFromTop ? turn(low) : turn(high);
    visit(end);
    const VisitedSegment &before = visited_[start - 1], &after = visited_[end];
    const double about = after.sum - before.sum;
    if (after.infinite != before.infinite || about > best_ + kRounding * after.sum) return;
    double sum = 0;
    if (about > 0)
      for (std::size_t i = low; i <= high && sum <= best_; ++i)
        sum += visited_[turn(i)].cost;
    if (sum <= best_) sum += position_(RowRange{first, rows_});
    if (sum < best_ || (sum == best_ && found_ && wins_tie(first))) {
      best_ = sum;
      best_row_ = first;
      found_ = true;
    }
  }

  bool wins_tie(std::uint32_t first) const { return kFromTop ? first > best_row_ : first < best_row_; }

  void move_to(std::size_t &segment, std::uint32_t row) const {
    while (segments_[segment].rows.first > row)
      --segment;
    while (segments_[segment].rows.end() <= row)
      ++segment;
  }

  const Segment *segments_;
  std::size_t begin_, last_;
  std::uint32_t rows_;
  RowRange area_;
  const SegmentCost &cost_;
  const PositionCost &position_;
  VisitedSegment *visited_;
  std::size_t visits_ = 1;
  double best_ = kInfinite;
  std::uint32_t best_row_ = 0;
  bool found_ = false;
};

} // namespace gradweave::compiler
