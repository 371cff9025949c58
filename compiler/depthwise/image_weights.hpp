// The weights of Y and dX, as the areas of a section use them.
#pragma once

#include "compiler/depthwise/image_layout.hpp"
#include "compiler/vector_stream/stage/area.hpp"
#include "sw_models/config/npu_config.hpp"

namespace gradweave::compiler::depthwise {

/// Lets the section's first area load the weights and spread them (ImageLayout::spread) for all areas: taps as lines,
/// the channels of all pixels side by side. Before anything else of the area.
void spread_weights(const ImageWork &work, const ImageLayout &layout, const NpuConfig &npu, Area &first);

} // namespace gradweave::compiler::depthwise
