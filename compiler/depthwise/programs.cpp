#include "compiler/depthwise/programs.hpp"

namespace gradweave::compiler::depthwise {
namespace {

using isa::vector::constant;
using isa::vector::Instruction;
using isa::vector::kOutputCode;
using isa::vector::Op;
using isa::vector::Operand;
using isa::vector::Program;
using isa::vector::reg;
using isa::vector::tile;

std::uint8_t output(unsigned i) { return static_cast<std::uint8_t>(kOutputCode + i); }

Instruction copy(std::uint8_t to, Operand from) { return {Op::OR, to, {from, from}, 0}; }

Instruction step(std::uint8_t to, Operand a, Operand b, Operand sum) { return {Op::FMA, to, {a, b, sum}, 0}; }

} // namespace

Program zeros() {
  Program p;
  p.sections[1] = {copy(output(0), constant())};
  return p;
}

Program copies() {
  Program p;
  p.sections[1] = {copy(output(0), tile(0))};
  return p;
}

Program image_taps(unsigned taps, bool continues) {
  Program p;
  for (unsigned i = 0; i < taps; ++i)
    p.sections[0].push_back(copy(static_cast<std::uint8_t>(i), tile(taps + i)));
  Operand sum = continues ? tile(2 * taps) : constant(); // +0
  for (unsigned i = 0; i < taps; ++i) {
    const bool last = i + 1 == taps;
    p.sections[1].push_back(step(last ? output(0) : static_cast<std::uint8_t>(taps), tile(i), reg(i), sum));
    sum = reg(taps);
  }
  return p;
}

Program weight_taps(unsigned taps) {
  Program p;
  for (unsigned i = 0; i < taps; ++i) {
    const auto sum = static_cast<std::uint8_t>(i);
    p.sections[0].push_back(copy(sum, tile(taps + 1 + i)));
    p.sections[1].push_back(step(sum, tile(i), tile(taps), reg(i)));
    p.sections[2].push_back(copy(output(i), reg(i)));
  }
  return p;
}

} // namespace gradweave::compiler::depthwise
