// What is needed of registers before instructions and sections.
#include "isa/vector/assembler.hpp"
#include "isa/vector/registers.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace gradweave::isa::vector {
namespace {

constexpr Registers bits(std::initializer_list<unsigned> registers) {
  Registers all = 0;
  for (const unsigned r : registers)
    all |= 1U << r;
  return all;
}

/// r1 is read before it is given, r2 behind, r3 by the second operation alone; a tile is no register, nor is an output.
const std::vector<Instruction> &section() {
  static const Program program = decode(assemble(R"(once
  add r2, r1, t0
  fma r1, r2, r2, r3
  index o0, 1
)"));
  return program.sections[0];
}

TEST(VectorRegisters, AreThoseThatOperandsName) {
  EXPECT_EQ(registers_read(section()[0]), bits({1}));
  EXPECT_EQ(registers_read(section()[1]), bits({2, 3}));
  EXPECT_EQ(registers_read(section()[2]), 0U) << "operands that the operation does not have";
}

TEST(VectorRegisters, AreGivenByAllButOutputs) {
  EXPECT_TRUE(gives_register(section()[0]));
  EXPECT_FALSE(gives_register(section()[2]));
  EXPECT_TRUE(gives_one_of(section()[0], bits({2, 5})));
  EXPECT_FALSE(gives_one_of(section()[0], bits({1, 5})));
  EXPECT_FALSE(gives_one_of(section()[2], ~Registers{0}));
}

TEST(VectorRegisters, AreAliveUntilTheyAreGiven) {
  EXPECT_EQ(alive_before(section()[0], bits({2, 7})), bits({1, 7}));
  EXPECT_EQ(alive_before(section()[1], bits({1})), bits({2, 3}));
  EXPECT_EQ(alive_before(section(), bits({1, 2, 9})), bits({1, 3, 9})) << "r1 is read and given anew, r2 given";
  EXPECT_EQ(alive_before(std::vector<Instruction>(), bits({4})), bits({4}));
}

} // namespace
} // namespace gradweave::isa::vector
