#include "compiler/spm/spm_map.hpp"

#include <algorithm>
#include <array>

namespace gradweave::compiler {

std::size_t SpmMap::find(std::uint32_t row) const {
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), row,
                                      [](std::uint32_t r, const Segment &s) { return r < s.rows.first; });
  return static_cast<std::size_t>(after - segments_.begin()) - 1;
}

void SpmMap::occupy(RowRange rows, std::int32_t tile, const std::function<LastUse(std::int32_t)> &evict) {
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

void SpmMap::release(std::uint32_t first_row, LastUse last) {
  Segment &s = segments_[find(first_row)];
  s.tile = kDead;
  s.last = last;
}

} // namespace gradweave::compiler
