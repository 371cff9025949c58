// Chains that go on: a program with loops as programs over some of the steps each, which hand on variables.
#pragma once

#include "isa/vector/program.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Some steps of one loop of a program, with what is run once before the first and behind the last loop's last ones.
struct ChainPart {
  isa::vector::Program program;
  std::vector<unsigned> operands, results; ///< t0, t1, ..., o0, o1, ...: which of the whole program's
  std::vector<unsigned> restored, saved;   ///< in the tiles behind them: registers, of all lanes, as words
};

/// Which tiles instructions use, ascending.
struct UsedTiles {
  std::vector<unsigned> operands, results; ///< t0, t1, ..., o0, o1, ...
};

/// Gives the tiles that all the sections together use the first names.
UsedTiles name_used_tiles(const std::vector<std::vector<isa::vector::Instruction> *> &sections);

/// The sections that are loops and have instructions, ascending.
std::vector<unsigned> loops_of(const isa::vector::Program &program);

/// The part of loop `loop`: its first steps, its last ones, both or neither; before it come `offset` steps of the loop.
/// All parts in order compute what the program does, in its order: a register that a later part reads is saved by the
/// part that gave it, as it is. Operands that sections behind the last loop read must not move with the steps. Throws
/// std::length_error: more tiles are wanted than there are; a scalar is set twice; the number of a step goes to a tile.
ChainPart chain_part(const isa::vector::Program &program, unsigned loop, bool first, bool last, std::uint32_t offset);

/// Whether chain_part() gives all parts of the program's loops.
bool parts_fit(const isa::vector::Program &program);

} // namespace gradweave::compiler
