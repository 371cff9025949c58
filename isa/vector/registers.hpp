// Which registers instructions read and give, and whose values are needed.
#pragma once

#include "isa/vector/program.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::isa::vector {

/// A bit each.
using Registers = std::uint32_t;

constexpr bool gives_register(const Instruction &i) { return i.d < kRegisters; }

/// Whether the value that an instruction gives is that of a register of the set.
constexpr bool gives_one_of(const Instruction &i, Registers set) { return gives_register(i) && (set >> i.d & 1U) != 0; }

/// What it reads.
Registers registers_read(const Instruction &i);

/// Registers whose values are needed before an instruction, or a section, if those of `behind` are behind it.
Registers alive_before(const Instruction &i, Registers behind);
Registers alive_before(const std::vector<Instruction> &section, Registers behind);

} // namespace gradweave::isa::vector
