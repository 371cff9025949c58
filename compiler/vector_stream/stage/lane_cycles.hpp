// How long the vector unit is busy with a program, nearly: to choose between ways to cut.
#pragma once

#include "compiler/vector_stream/stage/held_lines.hpp"
#include "isa/vector/program.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

struct LaneShape {
  std::size_t strips = 1, steps = 1;
  std::uint32_t same = 0; ///< operand tiles with one element for all lanes, as bits
};

/// For each section, step and group of 4 G strips the greatest of four cycles an instruction, and a cycle a line read
/// or written (docs/vector-unit.md), a line that is the same for all lanes once a group. `held`: lines that the
/// program, as it will be, holds in registers.
std::uint64_t lane_cycles(const isa::vector::Program &program, const LaneShape &shape, const NpuConfig &npu,
                          const std::vector<HeldLine> &held = {});

} // namespace gradweave::compiler
