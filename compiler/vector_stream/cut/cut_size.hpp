// How much of a group an area has.
#pragma once

#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/group/group.hpp"

#include <algorithm>
#include <cstddef>

namespace gradweave::compiler {

/// The largest count up to `most` that fits; 0 if none does. What fits in a smaller count fits, too.
template <typename Fits> std::size_t largest(std::size_t most, const Fits &fits) {
  std::size_t low = 0;
  while (low < most) {
    const std::size_t middle = low + (most - low + 1) / 2;
    if (fits(middle))
      low = middle;
    else
      most = middle - 1;
  }
  return low;
}

inline constexpr std::size_t kAreas = 32;               ///< if there is so much: transfers and lanes overlap
inline constexpr std::size_t kLeastAreaBytes = 1 << 15; ///< less does not hide what commands cost

/// So many rows an area, at most `most` (at least 1) of `all`, that some areas overlap, if that is worth it. The last
/// one is not so short that the transfers of those before and behind it wait.
inline std::size_t rows_of_area(std::size_t all, std::size_t most, std::size_t row_bytes) {
  const std::size_t worth =
      std::max(divide_up(all, kAreas), divide_up(kLeastAreaBytes, std::max<std::size_t>(row_bytes, 1)));
  const std::size_t rows = std::min(most, worth), rest = all % rows;
  return rest * 3 < rows ? divide_up(all, divide_up(all, rows)) : rows;
}

/// Bytes that an area of so many lanes moves for each of its steps.
inline std::size_t bytes_a_step(const JobGroup &group, std::size_t lanes, const NpuConfig &npu) {
  const auto moved = [&](std::size_t steps) { return moved_bytes(tiles_of(group, {0, lanes, 0, steps}, npu)); };
  return group.steps() == 1 ? moved(1) : moved(2) - moved(1);
}

} // namespace gradweave::compiler
