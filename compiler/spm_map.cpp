#include "compiler/spm_map.hpp"

#include <algorithm>
#include <limits>

namespace gradweave::compiler {

std::size_t SpmMap::find(std::uint32_t row) const {
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), row,
                                      [](std::uint32_t r, const Segment &s) { return r < s.rows.first; });
  return static_cast<std::size_t>(after - segments_.begin()) - 1;
}

std::optional<std::uint32_t> SpmMap::cheapest(std::uint32_t rows, RowRange area, const SegmentCost &cost,
                                              const PositionCost &position, bool from_top) const {
  if (rows > area.rows) return std::nullopt;
  const std::size_t begin = find(area.first);
  std::vector<double> costs;
  for (std::size_t i = begin; i < segments_.size() && segments_[i].rows.first < area.end(); ++i)
    costs.push_back(cost(segments_[i]));

  double best = std::numeric_limits<double>::infinity();
  std::optional<std::uint32_t> best_row;
  const auto consider = [&](std::uint32_t first, std::size_t segment) {
    double sum = 0;
    for (std::size_t i = segment; i < segments_.size() && segments_[i].rows.first < first + rows && sum <= best; ++i)
      sum += costs[i - begin];
    if (position && sum <= best) sum += position({first, rows});
    if (sum < best || (sum == best && best_row && (from_top ? first > *best_row : first < *best_row))) {
      best = sum;
      best_row = first;
    }
  };
  // A cheapest run can always be slid until it begins or ends at a segment's edge.
  for (std::size_t i = begin; i < begin + costs.size(); ++i) {
    const std::uint32_t first = std::max(segments_[i].rows.first, area.first);
    if (first + rows <= area.end()) consider(first, i);
    const std::uint32_t end = std::min(segments_[i].rows.end(), area.end());
    if (end >= area.first + rows) consider(end - rows, find(end - rows));
  }
  return best_row;
}

void SpmMap::occupy(RowRange rows, std::int32_t tile, const std::function<LastUse(std::int32_t)> &evict) {
  const std::size_t begin = find(rows.first);
  std::size_t end = begin;
  std::vector<Segment> replacement;
  Segment tail;
  for (; end < segments_.size() && segments_[end].rows.first < rows.end(); ++end) {
    Segment s = segments_[end];
    if (s.tile != kDead) s = {s.rows, kDead, evict(s.tile)};
    if (s.rows.first < rows.first) replacement.push_back({{s.rows.first, rows.first - s.rows.first}, kDead, s.last});
    if (s.rows.end() > rows.end()) tail = {{rows.end(), s.rows.end() - rows.end()}, kDead, s.last};
  }
  replacement.push_back({rows, tile, {}});
  if (tail.rows.rows > 0) replacement.push_back(tail);
  const auto at = segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(begin),
                                  segments_.begin() + static_cast<std::ptrdiff_t>(end));
  segments_.insert(at, replacement.begin(), replacement.end());
}

void SpmMap::release(std::uint32_t first_row, LastUse last) {
  Segment &s = segments_[find(first_row)];
  s.tile = kDead;
  s.last = last;
}

} // namespace gradweave::compiler
