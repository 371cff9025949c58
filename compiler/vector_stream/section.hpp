// From areas to commands.
#pragma once

#include "compiler/vector_stream/group/area.hpp"
#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// LOADs, TILEs, a VECTOR and STOREs for each area, areas by turns in the two places, so that they overlap. What a
/// place holds already is not loaded again. Where an area reads what an earlier one stores, it waits for that in
/// memory. Programs are written once, as long as the program memory has room for all. Semaphores are those from
/// `first_semaphore` on.
std::vector<isa::Command> section_commands(const AreaPlan &plan, const std::vector<std::uint64_t> &addresses,
                                           const NpuConfig &npu, std::uint8_t first_semaphore);

} // namespace gradweave::compiler
