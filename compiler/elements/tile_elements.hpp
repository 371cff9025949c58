// A program of elements over tensors in memory, as commands.
#pragma once

#include "compiler/elements/element_program.hpp"
#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Where the tensors lie, row-major and without gaps; a multiple of 4 bytes each.
using ElementAddresses = std::map<graph::TensorId, std::uint64_t>;

/// Cuts the tensors into tiles and runs the program on one after the other: PROGRAMs once; what is repeated is loaded
/// once; then for each tile LOADs, TILEs, a VECTOR and STOREs, in two places of the scratchpad by turns, so that memory
/// and lanes work at the same time. Where nothing is a row the tensors are taken as rows of as many elements as the
/// unit's lanes work on at once. All of core 0's vector unit; semaphores 0 to 4 are used and left at zero.
/// Throws ElementProgramError if the NPU has no vector unit, or if two tiles of a row do not fit its scratchpad.
std::vector<isa::Command> tile_elements(const ElementProgram &work, const ElementAddresses &addresses,
                                        const NpuConfig &npu);

} // namespace gradweave::compiler
