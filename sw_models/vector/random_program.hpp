// Random legal programs of the vector unit.
#pragma once

#include "base/random/dice.hpp"
#include "isa/vector/program.hpp"

#include <cstdint>

namespace gradweave::vector {

/// Any bits, or of exponents near 1, or special.
inline std::uint32_t random_fp32(Dice &dice) {
  const auto bits = static_cast<std::uint32_t>(dice.bits());
  switch (dice.below(8)) {
  case 0:
    return (bits & 0x80000000U) | ((bits & 1U) != 0 ? 0x7F800000U : 0U) | ((bits & 6U) == 0 ? 5U : 0U);
  case 1:
    return bits & 0x80FFFFFFU;
  case 2:
    return bits;
  default:
    return (bits & 0x87FFFFFFU) + 0x3C000000U;
  }
}

/// What random programs may be.
struct ProgramLimits {
  unsigned instructions = 12;                                            ///< of a section at most
  unsigned tiles = isa::vector::kTiles, outputs = isa::vector::kOutputs; ///< the first ones; of each at least 1
};

/// One to seven sections of instructions within the limits, any operation, of what was written before; at least one
/// section has instructions.
class RandomProgram {
public:
  explicit RandomProgram(Dice &dice, const ProgramLimits &limits = {}) : dice_(dice), limits_(limits) {}

  isa::vector::Program make() {
    isa::vector::Program program;
    const auto last = static_cast<unsigned>(dice_.below(isa::vector::kSections));
    for (unsigned s = 0; s <= last; ++s) {
      const std::uint64_t length = s < last && dice_.chance(0.3) ? 0 : 1 + dice_.below(limits_.instructions);
      for (std::uint64_t i = 0; i < length; ++i)
        program.sections[s].push_back(instruction());
    }
    return program;
  }

private:
  isa::vector::Operand operand() {
    isa::vector::Operand o;
    do
      o.code = static_cast<std::uint8_t>(dice_.below(32));
    while (!readable(o.code));
    o.neg = dice_.chance(0.3);
    o.abs = dice_.chance(0.2);
    return o;
  }

  bool readable(unsigned code) const {
    if (code >= isa::vector::kTileCode && code < isa::vector::kScalarCode)
      return code - isa::vector::kTileCode < limits_.tiles;
    return code == isa::vector::kConstantCode || (written_ >> code & 1U) != 0;
  }

  isa::vector::Instruction instruction() {
    const isa::vector::OpInfo &op = isa::vector::kOps[1 + dice_.below(isa::vector::kOps.size() - 1)];
    isa::vector::Instruction i;
    i.op = op.op;
    bool constant = op.reads.find('#') != std::string_view::npos;
    for (unsigned n = 0; n < isa::vector::operand_count(op); ++n) {
      i.operands[n] = operand();
      constant = constant || i.operands[n].code == isa::vector::kConstantCode;
    }
    if (constant) i.constant = op.most < 32 ? static_cast<std::uint32_t>(dice_.below(op.most + 1)) : random_fp32(dice_);
    i.d = static_cast<std::uint8_t>(op.to == "s" ? isa::vector::kScalarCode + dice_.below(isa::vector::kScalars)
                                                 : dice_.below(isa::vector::kOutputCode + limits_.outputs));
    if (op.to == "s" || i.d < isa::vector::kRegisters) written_ |= std::uint64_t{1} << i.d;
    return i;
  }

  Dice &dice_;
  ProgramLimits limits_;
  std::uint64_t written_ = 0;
};

inline isa::vector::Program random_program(Dice &dice, const ProgramLimits &limits = {}) {
  return RandomProgram(dice, limits).make();
}

} // namespace gradweave::vector
