// Residency: which tiles stay in the scratchpad, where, and the loads, stores and spills that follow.
#pragma once

#include "compiler/ir/program.hpp"
#include "compiler/lower/layout.hpp"
#include "sw_models/npu_config.hpp"

#include <optional>

namespace gradweave::compiler {

/// Whether a product of full tiles fits the split on its own, without anything else resident.
bool fits(PhaseKind kind, const TileShape &tile, const SpmSplit &split, const Layer &layer, const NpuConfig &npu,
          const PhaseParts &parts = {});

/// What the LOADs and STOREs of a program may take of the DRAM.
struct TrafficLimit {
  std::uint64_t bytes = ~std::uint64_t{0}; ///< fewer than these; whole accesses
  std::uint32_t command_bytes = 0;         ///< that each command counts for, too
};

/// Walks the products with knowledge of all later ones. A tile that is missing takes the rows that are cheapest to give
/// up: dead ones first, else tiles whose next use is far, counting that partial sums cost a store and a load. Rows that
/// one of the last `window` products used are avoided where possible, so that loads overlap computing. Returns nothing
/// if some product does not fit its areas, or as soon as it is clear that the program would exceed the limit; what it
/// took is then added to `lost`. `layers` are those of the layout, in its order.
std::optional<Program> allocate(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers,
                                const Layout &layout, const NpuConfig &npu, const TrafficLimit &limit = {},
                                std::uint64_t *lost = nullptr);

} // namespace gradweave::compiler
