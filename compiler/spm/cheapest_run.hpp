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
    // that wins ties, so that a run which costs nothing ends the search. Of the runs at a segment's edges one lies
    // among those before it, back to turn `back`, the other among those behind it, up to turn `ahead`.
    const std::size_t turns = last_ - begin_ + 1;
    Cursor here{segments_ + (kFromTop ? last_ : begin_)}, back = here, ahead = here;
    for (; here.turn <= turns; here.next()) {
      const std::uint32_t first = std::max(here.segment->rows.first, area_.first);
      const std::uint32_t end = std::min(here.segment->rows.end(), area_.end());
      if (best_ == 0 && (kFromTop ? first <= best_row_ && end <= best_row_ + rows_ : end >= best_row_ + rows_)) break;
      const bool begins = first + rows_ <= area_.end(), ends = end >= area_.first + rows_;
      if (kFromTop ? ends : begins) {
        const std::uint32_t at = kFromTop ? end - rows_ : first;
        ahead.go_to(kFromTop ? at : at + rows_ - 1);
        if (visits_ <= ahead.turn) visit(ahead);
        consider(at, here.turn, ahead.turn);
      }
      if (kFromTop ? begins : ends) {
        const std::uint32_t at = kFromTop ? first : end - rows_;
        back.go_to(kFromTop ? at + rows_ - 1 : at);
        if (visits_ <= here.turn) visit(here);
        consider(at, back.turn, here.turn);
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

  /// A segment, and its turn in the order of visits, from 1 on.
  struct Cursor {
    const Segment *segment;
    std::size_t turn = 1;

    void next() {
      segment += kFromTop ? -1 : 1;
      ++turn;
    }
    /// To the segment with a row that no segment before it has.
    void go_to(std::uint32_t row) {
      while (kFromTop ? segment->rows.first > row : segment->rows.end() <= row)
        next();
    }
  };

  void visit(const Cursor &until) {
    const Segment *segment = until.segment;
    segment += (kFromTop ? 1 : -1) * static_cast<std::ptrdiff_t>(until.turn - visits_);
    VisitedSegment visited = visited_[visits_ - 1];
    for (; visits_ <= until.turn; ++visits_, segment += kFromTop ? -1 : 1) {
      visited.cost = cost_(*segment);
      if (visited.cost < kInfinite)
        visited.sum += visited.cost;
      else
        ++visited.infinite;
      visited_[visits_] = visited;
    }
  }

  /// A run in the segments of these turns. Most are dearer than the best beyond doubt.
  void consider(std::uint32_t first, std::size_t start, std::size_t end) {
    const VisitedSegment &before = visited_[start - 1], &after = visited_[end];
    const double about = after.sum - before.sum;
    if (after.infinite == before.infinite && about <= best_ + kRounding * after.sum)
      compare(first, about > 0 ? start : end + 1, end);
  }

  /// Sums are taken the same way for all runs, by ascending rows, so that those of equal cost are equal. Few runs come
  /// this far: what turns the others down is to be inlined without this.
  [[gnu::noinline]] void compare(std::uint32_t first, std::size_t start, std::size_t end) {
    double sum = 0;
    for (std::size_t n = start; n <= end && sum <= best_; ++n)
      sum += visited_[kFromTop ? start + end - n : n].cost;
    if (sum > best_) return;
    sum += position_(RowRange{first, rows_});
    if (sum < best_ || (sum == best_ && found_ && wins_tie(first))) {
      best_ = sum;
      best_row_ = first;
      found_ = true;
    }
  }

  bool wins_tie(std::uint32_t first) const { return kFromTop ? first > best_row_ : first < best_row_; }

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
