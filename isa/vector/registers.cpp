#include "isa/vector/registers.hpp"

namespace gradweave::isa::vector {

Registers registers_read(const Instruction &i) {
  Registers read = 0;
  for (unsigned n = 0; n < operand_count(info(i.op)); ++n)
    if (i.operands[n].code < kRegisters) read |= 1U << i.operands[n].code;
  return read;
}

Registers alive_before(const Instruction &i, Registers behind) {
  if (gives_register(i)) behind &= ~(1U << i.d);
  return behind | registers_read(i);
}

Registers alive_before(const std::vector<Instruction> &section, Registers behind) {
  for (auto i = section.rbegin(); i != section.rend(); ++i)
    behind = alive_before(*i, behind);
  return behind;
}

} // namespace gradweave::isa::vector
