// Sets of ready operations that could be issued together, one for each data-flow map (flexer_cgo23, section 4.2).
#pragma once

#include "compiler/flexer/tile_dag.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gradweave::compiler::flexer {

inline constexpr std::size_t kMostCores = 8;

/// Operations, ascending; the first `count` count.
struct OperationSet {
  std::array<std::int32_t, kMostCores> operations{};
  std::uint32_t count = 0;
};

/// How often a set uses tiles that are in the scratchpad, and tiles that are not, of each kind: operands A, operands B,
/// sums and results (figure 7c). Sets with equal maps move alike.
class DataflowMap {
public:
  /// `resident`: of each tile, whether it is in the scratchpad.
  DataflowMap(const OperationSet &set, const TileDag &dag, const std::vector<bool> &resident);

  bool operator==(const DataflowMap &o) const { return counts_ == o.counts_; }
  bool operator<(const DataflowMap &o) const { return counts_ < o.counts_; }
  std::uint64_t hash() const {
    std::uint64_t hash = 0;
    for (const std::uint32_t counts : counts_)
      hash = (hash ^ counts) * 0x9E3779B97F4A7C15U;
    return hash >> 32U;
  }

private:
  static constexpr std::uint32_t kBits = 4;
  /// Of tiles of three kinds, reused and new: how many are used once, twice, and so on.
  std::array<std::uint32_t, 6> counts_{};
};

/// Sets of `size` ready operations, the first of each map in the order in which they are found; or all, without
/// pruning. `ready` ascends. `looked_at`, if not null, gets the number of sets that were told apart.
///
/// With pruning, sets grow by an operation at a time, and of each map of a smaller size `keep` sets grow on: an
/// operation is added that shares a tile with the set, or the first that shares none of each kind. Larger `keep` finds
/// more maps.
std::vector<OperationSet> make_sets(const std::vector<std::int32_t> &ready, std::uint32_t size, const TileDag &dag,
                                    const std::vector<bool> &resident, bool prune = true, std::uint32_t keep = 2,
                                    std::uint64_t *looked_at = nullptr);

} // namespace gradweave::compiler::flexer
