// Depthwise convolutions on the vector unit: each channel has a kernel of its own, so that there is no product for the
// array to share. Bits are those of N15 and N24: a step of the unit's fma is one of N5.
#pragma once

#include "compiler/depthwise/work.hpp"
#include "compiler/vector_stream/stage/area.hpp"
#include "sw_models/config/npu_config.hpp"

#include <optional>

namespace gradweave::compiler {

/// The areas of a product for section_commands(). Values: 0 and 1 the operands (X and W; dY and W; X and dY), 2 the
/// result, row-major without gaps. Images are NHWC, W is [channels][kernel rows][kernel columns]; operands are bf16.
///
/// Y and dX: a row of a tile is a part of an image's row, channels side by side, as in memory. So rows are long, lanes
/// are full whatever the channels, and a tap is the same tile, moved by columns and rows. dW: a row of a tile is a
/// pixel, as its chains go along the pixels.
///
/// None: the NPU has no vector unit, or its scratchpad has no room for one row and the kernel.
std::optional<AreaPlan> depthwise_areas(const DepthwiseWork &work, const NpuConfig &npu);

/// Whether there are any, which costs less to find out.
bool has_depthwise_areas(const DepthwiseWork &work, const NpuConfig &npu);

} // namespace gradweave::compiler
