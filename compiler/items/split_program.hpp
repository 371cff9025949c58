// Programs of several loops, of which a later one computes again what an earlier one has.
#pragma once

#include "compiler/vector/chain.hpp"
#include "isa/vector/program.hpp"
#include "sw_models/config/npu_config.hpp"

#include <optional>
#include <vector>

namespace gradweave::compiler {

/// One program for each loop. In the scratchpad it costs next to nothing to keep a value of each step, as fp32, so the
/// later loop reads it instead: softmax's masked scores, and its powers.
struct SplitProgram {
  /// Of operands and results those behind the program's own are the values that are kept, in order, each once written
  /// and once read.
  std::vector<ChainPart> parts;
  unsigned kept = 0;
};

/// Splits a program of so many operands and results; `same`: the operands with one element for all lanes, as bits.
/// Value after value is kept, each time the one that saves the most cycles on full lanes, lines that are read and
/// written counted. Bits are the same: what is kept is a register's word. Empty if nothing is computed again, if tiles
/// are too few, or if nothing is saved.
std::optional<SplitProgram> split_program(const isa::vector::Program &program, unsigned operands, unsigned results,
                                          std::uint32_t steps, std::uint32_t same, const NpuConfig &npu);

} // namespace gradweave::compiler
