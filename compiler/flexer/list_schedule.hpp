// The list scheduler of flexer_cgo23 (algorithm 1, GetSchedule): sets of ready operations in order of priority, and the
// moves that they need, as they come.
#pragma once

#include "compiler/flexer/operation_sets.hpp"
#include "compiler/request/flexer_policy.hpp"
#include "compiler/spm/residency.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gradweave::compiler::flexer {

/// What is weighed of a set: flexer_cgo23, section 4.3. Sizes are scratchpad rows.
struct SetValue {
  double benefit = 0;        ///< reused less spilled data
  std::uint64_t spilled = 0; ///< rows that lose their place and are still to be read
  std::uint32_t utility = 0; ///< rows of tiles that are still to be read, after it
  std::uint64_t moved = 0;   ///< bytes loaded and stored for it
};

/// What the scheduler did in a step, for those who want to know why. Tiles are those of the walk's table, operations
/// its products.
struct ListStep {
  struct Weighed {
    OperationSet set;
    SetValue value;   ///< if it fits
    bool fits = true; ///< its tiles find room
  };
  struct Victim {
    std::int32_t tile = 0;
    std::uint32_t uses = 0; ///< operations that are still to read it
    bool stored = false;    ///< a partial sum; else it is in memory already
  };
  struct Placed {
    std::int32_t tile = 0;
    std::uint32_t row = 0; ///< of the scratchpad, the first
    bool loaded = false;   ///< else an operation of the set begins it
  };
  struct Issued {
    std::int32_t operation = 0;
    std::uint32_t core = 0;
  };
  std::uint64_t ready = 0;      ///< operations
  std::uint64_t sets = 0;       ///< that were told apart
  std::vector<Weighed> weighed; ///< of those, in this order; smaller ones where none of a size fits
  OperationSet set;             ///< the one that was taken
  SetValue value;               ///< of it; nothing of a repacked one
  bool repacked = false;        ///< all that was in the scratchpad had to go
  std::vector<Victim> victims;
  std::vector<Placed> placed;
  std::vector<Issued> issued; ///< in this order
};
using ListObserver = std::function<void(const ListStep &)>;
/// Takes a set of the ready operations, which ascend, in place of the priorities: as many as there are cores at most.
using SetChoice = std::function<OperationSet(const std::vector<std::int32_t> &ready)>;

/// Schedules the operations of the walk, phase after phase, for `cores` cores, and places their tiles. Operation i of
/// the walk's table stands for product i of the plans. Returns nothing if an operation does not fit the scratchpad by
/// itself, or once more than `most_bytes` would be moved; nor if `choice`, where it is given, takes a set that does not
/// fit.
std::optional<Program> list_schedule(const std::vector<PhasePlan> &plans, const TileWalk &walk, const Policy &policy,
                                     std::uint32_t cores, std::uint64_t most_bytes = ~std::uint64_t{0},
                                     const ListObserver &observer = nullptr, const SetChoice &choice = nullptr);

} // namespace gradweave::compiler::flexer
