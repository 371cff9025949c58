// The choice of how many rows of the image an area of fused layers has.
#pragma once

#include "compiler/depthwise/fused/fused_layout.hpp"

#include <optional>
#include <vector>

namespace gradweave::compiler::depthwise {

/// The layout that takes the least time, nearly (fused_cycles(), which is its `cycles`), in the rows of the scratchpad
/// that `npu` has. None fits: nothing.
std::optional<FusedLayout> choose_fused_layout(const std::vector<Layer> &layers, const Machine &npu);

} // namespace gradweave::compiler::depthwise
