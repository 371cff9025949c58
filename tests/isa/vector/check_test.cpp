// What makes a program illegal: each fault by its code and index.
#include "isa/vector/assembler.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace gradweave::isa::vector {
namespace {

constexpr const char *kLegal = "set s1, 1.0\nloop\nadd r1, t0, s1\nshl r2, r1, 3\nmul o0, r2, r1";

void expect_fault(const Words &words, FaultCode code, std::uint32_t index, std::size_t memory = 1024) {
  const auto fault = check(words, memory);
  ASSERT_TRUE(fault) << disassemble(words);
  EXPECT_EQ(fault->code, code) << fault->text;
  EXPECT_EQ(fault->index, index) << fault->text;
}

Words with(std::size_t index, std::uint64_t word) {
  Words words = assemble(kLegal);
  words[index] = word;
  return words;
}

Words flipped(std::size_t index, unsigned bit) {
  return with(index, assemble(kLegal)[index] ^ std::uint64_t{1} << bit);
}

TEST(VectorCheck, TheLegalProgramIsOne) {
  const auto fault = check(assemble(kLegal));
  EXPECT_FALSE(fault) << fault->text;
  EXPECT_FALSE(check(assemble(kLegal), 6));
}

TEST(VectorCheck, Header) {
  expect_fault({}, FaultCode::HEADER, 0);
  expect_fault(with(0, 0), FaultCode::HEADER, 0);
  expect_fault(flipped(0, 6), FaultCode::HEADER, 0);
  expect_fault({1, 0}, FaultCode::HEADER, 0);
  expect_fault(flipped(1, 63), FaultCode::HEADER, 1);
}

TEST(VectorCheck, Length) {
  Words words = assemble(kLegal);
  expect_fault(words, FaultCode::LENGTH, 0, 5);
  words.pop_back();
  expect_fault(words, FaultCode::LENGTH, 0);
  words.resize(1);
  expect_fault(words, FaultCode::LENGTH, 0);
}

TEST(VectorCheck, Mask) {
  expect_fault(flipped(1, 9), FaultCode::MASK, 3);     // t0 of the loop: read without
  expect_fault(flipped(1, 9 + 5), FaultCode::MASK, 5); // o0: written without
  expect_fault(flipped(1, 9 + 1), FaultCode::MASK, 5); // t1: not read, known at the section's end
  expect_fault(flipped(1, 0), FaultCode::MASK, 2);     // t0 of section 0
  expect_fault(flipped(1, 18), FaultCode::MASK, 1);    // of an empty section
}

TEST(VectorCheck, Instructions) {
  expect_fault(with(3, 0), FaultCode::OPCODE, 3);
  expect_fault(with(3, 1), FaultCode::OPCODE, 3);
  expect_fault(with(3, 31), FaultCode::OPCODE, 3);
  expect_fault(flipped(3, 31), FaultCode::UNUSED, 3);
  expect_fault(flipped(3, 24), FaultCode::UNUSED, 3); // operand c of an ADD
  expect_fault(flipped(3, 40), FaultCode::UNUSED, 3); // a constant that nothing reads
  expect_fault(with(3, assemble("add r0, t0, t0")[2] | 20U << 5), FaultCode::RESULT, 3);
  expect_fault(with(2, assemble("set s0, 1.0")[2] & ~std::uint64_t{31U << 5}), FaultCode::RESULT, 2);
  expect_fault(with(4, assemble("shl r2, t0, 32")[2]), FaultCode::NUMBER, 4);
  expect_fault(with(4, assemble("index r2, 3")[2]), FaultCode::NUMBER, 4);
  expect_fault(with(3, assemble("add r1, t0, r1")[2]), FaultCode::UNWRITTEN, 3);
  expect_fault(with(3, assemble("add r1, t0, s0")[2]), FaultCode::UNWRITTEN, 3);
}

TEST(VectorCheck, TextsNameWordOperationAndReason) {
  EXPECT_EQ(check(with(4, assemble("shl r2, t0, 32")[2]))->text, "word 4 (SHL): its number is 32; the most is 31");
  EXPECT_EQ(check(with(3, 0))->text, "word 3: no operation has the number 0; use one of docs/vector-isa.md");
}

/// Every operation, with each of its bits: what the fields do not cover is refused.
TEST(VectorCheck, BitsThatNoFieldCoversAreUnused) {
  for (const OpInfo &op : kOps) {
    if (op.to.empty()) continue;
    for (unsigned bit = 0; bit < 64; ++bit) {
      if ((op.used >> bit & 1U) != 0) continue;
      Program p;
      Instruction i;
      i.op = op.op;
      i.d = op.to == "s" ? scalar(0).code : 0;
      i.operands.fill(tile(0));
      p.sections[0] = {i};
      Words words = encode(p);
      ASSERT_FALSE(check(words)) << op.name;
      words[2] |= std::uint64_t{1} << bit;
      expect_fault(words, FaultCode::UNUSED, 2);
    }
  }
}

} // namespace
} // namespace gradweave::isa::vector
