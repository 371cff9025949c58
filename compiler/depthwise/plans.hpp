// Areas of depthwise convolutions whose result is an image.
#pragma once

#include "compiler/depthwise/work.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/stage/area.hpp"
#include "compiler/vector_stream/stage/places.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <optional>

namespace gradweave::compiler::depthwise {

std::optional<AreaPlan> image_areas(const DepthwiseWork &work, const NpuConfig &npu); ///< Y and dX

constexpr std::uint64_t kRunCycles = 30; ///< of a VECTOR and its TILEs, beside its lines, nearly

} // namespace gradweave::compiler::depthwise
