#include "compiler/vector/placed_walk.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Whether all that operand i of a has at earlier places lies before what operand j of b has at a place.
bool lies_before(const PlacedWalk &a, std::size_t i, const PlacedWalk &b, std::size_t j) {
  const std::size_t length =
      (a.walk.lanes.count - 1) * a.walk.lanes.strides[i] + (a.walk.steps.count - 1) * a.walk.steps.strides[i] + 1;
  std::size_t end = 0;
  for (std::size_t place = 0; place < a.walk.firsts.size(); ++place) {
    if (b.walk.firsts[place][j] < end) return false;
    end = std::max(end, a.walk.firsts[place][i] + length);
  }
  return true;
}

} // namespace

bool go_place_by_place(const PlacedWalk &before, const PlacedWalk &behind) {
  if (!before.walk.elementwise || !behind.walk.elementwise) return false;
  if (before.walk.lanes.count != behind.walk.lanes.count || before.walk.steps.count != behind.walk.steps.count ||
      before.walk.firsts.size() != behind.walk.firsts.size())
    return false;
  for (std::size_t i = 0; i < before.values.size(); ++i)
    for (std::size_t j = 0; j < behind.values.size(); ++j) {
      const bool writes = i >= before.operands || j >= behind.operands;
      if (before.values[i] != behind.values[j] || !writes) continue;
      if (!lies_before(before, i, behind, j) || !lies_before(behind, j, before, i)) return false;
    }
  return true;
}

} // namespace gradweave::compiler
