// The operations of phases as a graph (flexer_cgo23, section 3): each is ready when the one before it in its chain of
// sums is done. Moving data is no operation.
#pragma once

#include "compiler/spm/residency.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gradweave::compiler::flexer {

/// An operation is a tile product, by its index over all phases; tiles are those of the walk's table.
struct Operation {
  static constexpr std::int32_t kNone = -1;
  std::array<std::int32_t, 2> operands{kNone, kNone}; ///< A and B
  std::int32_t sum = kNone;                           ///< that it continues
  std::int32_t result = kNone;                        ///< sum or elements that it leaves
  std::int32_t next = kNone;                          ///< operation that continues its sum
  std::uint32_t phase = 0;
};

class TileDag {
public:
  /// Of the walk of the plans, whose products are in the order of the data flow: it decides where priorities are equal.
  TileDag(const std::vector<PhasePlan> &plans, const TileWalk &walk);

  const std::vector<Operation> &operations() const { return operations_; }
  /// Operations that read each tile, in all.
  const std::vector<std::uint32_t> &uses() const { return uses_; }
  /// Operations of a phase that wait for none.
  std::vector<std::int32_t> sources(std::uint32_t phase) const;

private:
  std::vector<Operation> operations_;
  std::vector<std::uint32_t> uses_;
};

} // namespace gradweave::compiler::flexer
