// Sizes that parts can have.
#pragma once

#include "compiler/ir/arithmetic.hpp"

#include <cstddef>
#include <functional>
#include <set>
#include <vector>

namespace gradweave::compiler::depthwise {

/// The sizes of parts if `all` is cut into 1, 2, ... parts, descending.
inline std::vector<std::size_t> part_sizes(std::size_t all) {
  std::set<std::size_t, std::greater<>> sizes;
  for (std::size_t parts = 1; parts <= all; ++parts)
    sizes.insert(divide_up(all, parts));
  return {sizes.begin(), sizes.end()};
}

} // namespace gradweave::compiler::depthwise
