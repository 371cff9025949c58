// Cycles that no schedule, tiling or timing of a layer can beat.
#pragma once

#include "compiler/ir/compiled.hpp"
#include "sw_models/config/machine.hpp"

namespace gradweave::compiler {

/// Bounds of the layers' products in the pass on this NPU. Traffic counts what memory has to hold before or after,
/// and of a single layer the commands that move images row by row. `io_cycles` is that of a single layer, for several
/// 0: what one leaves in the scratchpad may serve the next.
Bounds lower_bounds(const std::vector<Layer> &layers, const Jobs &jobs, const Layout &layout, const Machine &npu);

/// Cycles that no schedule of a layer beats (Bounds::run_cycles), of both passes one after the other if both are asked
/// for.
std::uint64_t layer_bound(const Layer &layer, Pass asked, const Machine &npu);

} // namespace gradweave::compiler
