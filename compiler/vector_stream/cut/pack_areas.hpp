// Small areas of jobs that have nothing in common, as one.
#pragma once

#include "compiler/vector_stream/stage/area.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstddef>

namespace gradweave::compiler {

/// Bytes that a pack moves at most: its transfers take longer than the latency of its commands then.
inline constexpr std::size_t kPackBytes = std::size_t{1} << 15;

/// Joins areas that follow one another and move so little that commands and the memory's latency take longer: updates
/// of single rows. Their runs come one behind the other in one place. What an area loads that one before in the same
/// pack has, loaded or as a result, is read where that has it; of a result that a later one replaces, only the last is
/// stored. Areas that are one of several of a layout overlap by themselves, and stay.
void pack_areas(AreaPlan &plan, const NpuConfig &npu);

} // namespace gradweave::compiler
