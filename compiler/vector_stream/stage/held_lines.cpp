#include "compiler/vector_stream/stage/held_lines.hpp"

#include "compiler/vector/chain.hpp"
#include "isa/vector/registers.hpp"

#include <cstdint>

namespace gradweave::compiler {
namespace {

using isa::vector::Instruction;
using isa::vector::kRegisters;
using isa::vector::kSections;
using isa::vector::kTileCode;
using isa::vector::Program;
using isa::vector::Registers;

unsigned operands_of(const Instruction &i) { return isa::vector::operand_count(isa::vector::info(i.op)); }

Registers used_registers(const Program &program) {
  Registers used = 0;
  for (const auto &section : program.sections)
    for (const Instruction &i : section)
      used |= registers_read(i) | (gives_register(i) ? 1U << i.d : 0U);
  return used;
}

} // namespace

std::vector<HeldLine> held_lines(const Stage &stage) {
  std::vector<HeldLine> held;
  const Registers used = used_registers(*stage.program);
  const std::vector<unsigned> loops = loops_of(*stage.program);
  unsigned reg = 0;
  for (unsigned operand = 0; operand < stage.operands.size(); ++operand) {
    if (stage.operands[operand].step != 0) continue;
    for (const unsigned loop : loops) {
      if ((isa::vector::mask_of(stage.program->sections[loop]) >> operand & 1U) == 0) continue;
      while (reg < kRegisters && (used >> reg & 1U) != 0)
        ++reg;
      if (reg == kRegisters) return held;
      held.push_back({operand, loop, reg++});
      break;
    }
  }
  return held;
}

Program with_held_lines(Program program, const std::vector<HeldLine> &held) {
  for (const HeldLine &line : held) {
    const auto tile = static_cast<std::uint8_t>(kTileCode + line.operand);
    for (unsigned s = line.section; s < kSections; ++s)
      for (Instruction &i : program.sections[s])
        for (unsigned n = 0; n < operands_of(i); ++n)
          if (i.operands[n].code == tile) i.operands[n].code = static_cast<std::uint8_t>(line.reg);
    Instruction copy;
    copy.d = static_cast<std::uint8_t>(line.reg);
    copy.operands[0] = copy.operands[1] = isa::vector::tile(line.operand);
    program.sections[line.section - 1].push_back(copy);
  }
  return program;
}

} // namespace gradweave::compiler
