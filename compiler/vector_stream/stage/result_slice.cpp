#include "compiler/vector_stream/stage/result_slice.hpp"

#include "isa/vector/registers.hpp"

#include <vector>

namespace gradweave::compiler {
namespace {

using isa::vector::Instruction;
using isa::vector::kOutputCode;
using isa::vector::kScalarCode;
using isa::vector::kSections;
using isa::vector::Program;
using isa::vector::Registers;

using Code = std::vector<Instruction>;

/// The instructions of a section that the result, or a register of `alive` behind them, needs, from the last one on.
/// `alive` becomes what is needed before.
Code needed(const Code &section, unsigned result, Registers &alive) {
  Code taken;
  for (auto i = section.rbegin(); i != section.rend(); ++i) {
    if (!gives_one_of(*i, alive) && i->d < kScalarCode && i->d != kOutputCode + result) continue;
    alive = alive_before(*i, alive);
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
