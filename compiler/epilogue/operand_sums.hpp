// Sums over the rows of a product's operand, by the vector unit, of the operand's tiles that are in the scratchpad for
// the product.
#pragma once

#include "compiler/epilogue/epilogue.hpp"
#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// A chain over the rows of an operand of a product, which gives a number for each column: a bias's gradient of dY.
struct OperandSum {
  OpJobs jobs;                          ///< one, with the operand and a line as its values
  std::size_t operand = 0;              ///< which of their values
  std::size_t rows = 0, cols = 0;       ///< of its matrix, row-major without gaps
  std::vector<std::uint64_t> addresses; ///< of each value
};

/// Whether the jobs are such a chain.
bool is_operand_sum(const OperandSum &sum);

/// Rows of the scratchpad that lines of the sum take; even. 0: it cannot be had, as the product does not load all rows
/// of the operand's columns in ascending order, or writes over them by another product. `end_row`: behind the rows that
/// the product uses.
std::uint32_t rows_of_sum(const std::vector<isa::Command> &product, const OperandSum &sum, std::uint32_t end_row,
                          const NpuConfig &npu);

/// The product's commands, with epilogues or without, in which a run of the chain follows each LOAD of rows that the
/// sum has not had, behind the product that uses them: it goes on where the last one of the same columns ended (N9).
/// The last one's STORE follows. A LOAD that replaces rows waits for their run. `room`: of rows_of_sum() rows, apart
/// from those of epilogues. Empty if the program memory has no room.
std::vector<isa::Command> add_operand_sum(const std::vector<isa::Command> &commands, const OperandSum &sum,
                                          std::uint32_t end_row, const EpilogueRoom &room, const NpuConfig &npu);

} // namespace gradweave::compiler
