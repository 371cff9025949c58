#include "compiler/vector_stream/group/result_slice.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {
namespace {

using isa::vector::Instruction;
using isa::vector::kOutputCode;
using isa::vector::kRegisters;
using isa::vector::kScalarCode;
using isa::vector::kSections;
using isa::vector::Program;

using Registers = std::uint32_t; ///< a bit each
using Code = std::vector<Instruction>;

/// The instructions of a section that the result, or a register of `alive` behind them, needs, from the last one on.
/// `alive` becomes what is needed before.
Code needed(const Code &section, unsigned result, Registers &alive) {
  Code taken;
  for (auto i = section.rbegin(); i != section.rend(); ++i) {
    const bool to_register = i->d < kRegisters;
    if (to_register ? (alive >> i->d & 1U) == 0 : i->d < kScalarCode && i->d != kOutputCode + result) continue;
    if (to_register) alive &= ~(1U << i->d);
    for (unsigned n = 0; n < isa::vector::operand_count(isa::vector::info(i->op)); ++n)
      if (i->operands[n].code < kRegisters) alive |= 1U << i->operands[n].code;
    taken.push_back(*i);
  }
  return taken;
}

} // namespace

Program result_slice(const Program &program, unsigned result) {
  Program slice;
  Registers alive = 0;
  for (unsigned s = kSections; s-- > 0;) {
    const Code &section = program.sections[s];
    const bool is_loop = s % 2 == 1; // whose steps read what those before have given
    const Registers behind = alive;
    Code taken = needed(section, result, alive);
    for (Registers before = 0; is_loop && alive != before;) {
      before = alive;
      alive |= behind;
      taken = needed(section, result, alive);
    }
    slice.sections[s].assign(taken.rbegin(), taken.rend());
  }
  return slice;
}

} // namespace gradweave::compiler
