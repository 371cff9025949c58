// Text form of programs of the vector unit.
//
//   once                       # section 0; what comes before any section word is in it
//     set s0, 0x4B400000
//   loop                       # section 1: once a step
//     fma r0, t0, 1.5, s0      # r: registers, t: operand tiles, s: scalars; numbers: one constant an instruction
//     max r1, -r0, |t1|
//     shl r1, r1, 23
//     select o0, r0, r1, -|r0| # o: result tiles
//
// `once` begins the next section that is run once, `loop` the next that is run once a step. A constant is 0x and bits,
// or a decimal number with a point or an exponent, which is rounded to fp32, or an integer. The last operand of `set`,
// `index` and shifts is a number. Words that are no instructions are written `.word 0x...`; a text of them alone is
// taken as it is, header included. # starts a comment.
#pragma once

#include "isa/vector/program.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

namespace gradweave::isa::vector {

/// what() is "NAME:LINE: problem; remedy".
class AssemblyError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The words of a text; `name` stands for the source in errors. Operations, names of operands and counts are checked,
/// and that a line needs no second constant; whether the program is legal, check() tells. Throws AssemblyError.
Words assemble(std::string_view text, std::string_view name = "<text>");

/// A text that assembles to the same words. What is no legal program becomes .word lines.
std::string disassemble(const Words &words);

} // namespace gradweave::isa::vector
