// Cycles that no schedule, tiling or timing of a layer can beat.
#pragma once

#include "compiler/layout.hpp"

namespace gradweave::compiler {

/// Bounds of the layer's products in the pass on this NPU.
Bounds lower_bounds(const Layer &layer, Pass pass, const Layout &layout, const NpuConfig &npu);

} // namespace gradweave::compiler
