// From areas to commands.
#pragma once

#include "compiler/vector_stream/stage/area.hpp"
#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// What a section takes beside the engines.
struct SectionRoom {
  std::uint8_t first_semaphore = 0;
  std::uint32_t first_row = 0; ///< of the scratchpad; all counts from there
};

/// Semaphores of a section.
inline constexpr std::uint32_t kSectionSemaphores = 7;

/// LOADs, TILEs, a VECTOR and STOREs for each area, areas by turns in the two places, so that they overlap. What a
/// place holds already is not loaded again. Where an area reads what an earlier one stores, it waits for that in
/// memory. Programs are written once, as long as the program memory has room for all. In pieces, one for each area:
/// what stands between two pieces may use the engines, too, but neither the rows nor the semaphores. `npu`: its
/// scratchpad is what the section may use from the first row on.
std::vector<std::vector<isa::Command>> section_pieces(const AreaPlan &plan, const std::vector<std::uint64_t> &addresses,
                                                      const NpuConfig &npu, const SectionRoom &room);
/// All pieces, in the whole scratchpad.
std::vector<isa::Command> section_commands(const AreaPlan &plan, const std::vector<std::uint64_t> &addresses,
                                           const NpuConfig &npu, std::uint8_t first_semaphore);

} // namespace gradweave::compiler
