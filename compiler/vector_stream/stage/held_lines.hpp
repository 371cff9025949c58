// Lines that every step of a loop reads again, held in registers.
#pragma once

#include "compiler/vector_stream/stage/stage.hpp"
#include "isa/vector/program.hpp"

#include <vector>

namespace gradweave::compiler {

/// An operand that a loop reads in every step, though it is the same line.
struct HeldLine {
  unsigned operand = 0; ///< t0, t1, ...
  unsigned section = 0; ///< the loop that reads it first
  unsigned reg = 0;     ///< one that the program has no use for
};

/// The operands of a stage, as it is walked, that a loop need not read in every step: as many as there are registers.
std::vector<HeldLine> held_lines(const Stage &stage);

/// The program that copies each of these lines, 32 bits an element, in the section before its loop, and reads the
/// copies from there on: no bit changes.
isa::vector::Program with_held_lines(isa::vector::Program program, const std::vector<HeldLine> &held);

} // namespace gradweave::compiler
