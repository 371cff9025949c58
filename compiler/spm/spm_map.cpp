#include "compiler/spm/spm_map.hpp"

#include <algorithm>

namespace gradweave::compiler {

std::size_t SpmMap::find(std::uint32_t row) const {
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), row,
                                      [](std::uint32_t r, const Segment &s) { return r < s.rows.first; });
  return static_cast<std::size_t>(after - segments_.begin()) - 1;
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
