#include "compiler/spm/spm_map.hpp"

#include <algorithm>

namespace gradweave::compiler {

std::size_t SpmMap::find(std::uint32_t row) const {
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), row,
                                      [](std::uint32_t r, const Segment &s) { return r < s.rows.first; });
  return static_cast<std::size_t>(after - segments_.begin()) - 1;
}

void SpmMap::release(std::uint32_t first_row, LastUse last) {
  Segment &s = segments_[find(first_row)];
  s.tile = kDead;
  s.last = last;
}

} // namespace gradweave::compiler
