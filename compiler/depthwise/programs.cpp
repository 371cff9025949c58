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

Program pairs() {
  Program p;
  p.sections[1] = {{Op::SHR, 0, {tile(1)}, 16}, {Op::OR, output(0), {tile(0), reg(0)}, 0}};
  return p;
}

bool has_image_rows(std::size_t kernel_height, std::size_t kernel_width) {
  return kernel_width < isa::vector::kTiles && kernel_height * kernel_width + kernel_height <= isa::vector::kRegisters;
}

Program image_rows(unsigned kernel_height, unsigned kernel_width) {
  const unsigned taps = kernel_height * kernel_width, words = (taps + 1) / 2;
  const auto r = [](unsigned i) { return static_cast<std::uint8_t>(i); };
  const auto weight = [&](unsigned tap) { return tap % 2 == 0 ? tap / 2 : words + tap / 2; };
  const auto sum = [&](unsigned row) { return taps + row; }; // that has seen the kernel's rows up to this one
  const unsigned between = taps + kernel_height - 1;
  Program p;
  for (unsigned w = 0; w + 1 < words; ++w)
    p.sections[0].push_back(copy(r(w), constant()));
  for (unsigned row = 0; row + 1 < kernel_height; ++row)
    p.sections[0].push_back(copy(r(sum(row)), constant()));
  for (unsigned w = words; --w > 0;)
    p.sections[1].push_back(copy(r(w), reg(w - 1)));
  p.sections[1].push_back(copy(0, tile(kernel_width)));
  for (unsigned tap = 1; tap < taps; tap += 2)
    p.sections[2].push_back({Op::SHL, r(weight(tap)), {reg(tap / 2)}, 16});
  for (unsigned tap = 0; tap < taps; tap += 2)
    p.sections[2].push_back({Op::AND, r(weight(tap)), {reg(weight(tap)), constant()}, 0xFFFF0000U});
  for (unsigned row = kernel_height; row-- > 0;)
    for (unsigned col = 0; col < kernel_width; ++col) {
      const Operand before = col > 0 ? reg(between) : row > 0 ? reg(sum(row - 1)) : constant(); // +0
      const std::uint8_t to = col + 1 < kernel_width ? r(between) : row + 1 < kernel_height ? r(sum(row)) : output(0);
      p.sections[3].push_back(step(to, tile(col), reg(weight(row * kernel_width + col)), before));
    }
  return p;
}

Program diagonal() {
  constexpr std::uint8_t kElement = 0, kLane = 1, kIsThere = 2;
  constexpr std::uint32_t kOfLane = 0, kOfStep = 2;
  Program p;
  p.sections[0] = {copy(kElement, constant()), {Op::INDEX, kLane, {}, kOfLane}};
  p.sections[1] = {{Op::INDEX, kIsThere, {}, kOfStep},
                   {Op::EQ, kIsThere, {reg(kLane), reg(kIsThere)}, 0}, // exact: both are subnormal
                   {Op::SELECT, kElement, {reg(kIsThere), tile(0), reg(kElement)}, 0}};
  p.sections[2] = {copy(output(0), reg(kElement))};
  return p;
}

} // namespace gradweave::compiler::depthwise
