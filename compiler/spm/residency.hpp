// Residency: which tiles stay in the scratchpad, where, and the loads, stores and spills that follow.
#pragma once

#include "compiler/ir/program.hpp"
#include "compiler/lower/layout.hpp"
#include "sw_models/config/npu_config.hpp"

#include <optional>

namespace gradweave::compiler {

/// Whether a product of full tiles fits the split on its own, without anything else resident.
bool fits(PhaseKind kind, const TileShape &tile, const SpmSplit &split, const Layer &layer, const NpuConfig &npu,
          const PhaseParts &parts = {});

/// Walks the products with knowledge of all later ones. A tile that is missing takes the rows that are cheapest to give
/// up: dead ones first, else tiles whose next use is far, counting that partial sums cost a store and a load. Rows that
/// one of the last `window` products used are avoided where possible, so that loads overlap computing. Returns nothing
/// if some product does not fit its areas. `layers` are those of the layout, in its order.
std::optional<Program> allocate(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers,
                                const Layout &layout, const NpuConfig &npu);

} // namespace gradweave::compiler
