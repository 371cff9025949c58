// Text of programs to words and back, exactly; and one negative test per message.
#include "isa/vector/assembler.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gradweave::isa::vector {
namespace {

constexpr const char *kExample = R"(once
  set s0, 0x4B400000
  or r3, 0x00000000, 0x00000000
loop
  fma r0, t0, 0x3FC00000, s0
  max r1, -r0, |t1|
  shl r1, r1, 23
  select o0, r0, r1, -|r0|
  mul r2, -0x3F800000, |s0|
  add r3, r3, r2
once
  index r4, 1
  iadd o3, r4, r3
)";

TEST(VectorAssembler, TheExampleIsItsOwnDisassembly) {
  const Words words = assemble(kExample);
  EXPECT_FALSE(check(words));
  EXPECT_EQ(disassemble(words), kExample);
  const Program program = decode(words);
  EXPECT_EQ(program.sections[1].size(), 6U);
  const Instruction &fma = program.sections[1][0];
  EXPECT_EQ(fma.op, Op::FMA);
  EXPECT_EQ(fma.operands[0].code, tile(0).code);
  EXPECT_EQ(fma.operands[1].code, kConstantCode);
  EXPECT_EQ(fma.constant, 0x3FC00000U);
  EXPECT_EQ(fma.operands[2].code, scalar(0).code);
  EXPECT_TRUE(program.sections[1][3].operands[2].neg && program.sections[1][3].operands[2].abs);
  EXPECT_EQ(mask_of(program.sections[1]), 0b0001'00011U);
  EXPECT_EQ(mask_of(program.sections[2]), 0b1000'00000U);
}

TEST(VectorAssembler, NumbersAreBitsIntegersOrRounded) {
  EXPECT_EQ(decode(assemble("add r0, t0, 1.5")).sections[0][0].constant, 0x3FC00000U);
  EXPECT_EQ(decode(assemble("add r0, t0, -1e0")).sections[0][0].constant, 0xBF800000U);
  EXPECT_EQ(decode(assemble("iadd r0, t0, -2")).sections[0][0].constant, 0xFFFFFFFEU);
  EXPECT_EQ(decode(assemble("iadd r0, t0, 7")).sections[0][0].constant, 7U);
  EXPECT_EQ(decode(assemble("fma r0, 2.0, t0, 0x40000000")).sections[0][0].constant, 0x40000000U);
}

TEST(VectorAssembler, SectionsAreSkippedWhereTheyAreEmpty) {
  const Program p = decode(assemble("loop\n add o0, t0, t0\nloop\n add o0, t0, t1\nonce\n add o1, t0, 1.0\n"));
  EXPECT_TRUE(p.sections[0].empty() && p.sections[2].empty());
  EXPECT_EQ(p.sections[1].size() + p.sections[3].size() + p.sections[4].size(), 3U);
}

/// Any words come back: of a legal program as instructions, else as they are.
TEST(VectorAssembler, AnyWordsSurviveTheRoundTrip) {
  constexpr std::uint32_t kSeed = 27;
  RecordProperty("seed", static_cast<int>(kSeed));
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    Words words = assemble(kExample);
    for (int n = 0; n < i % 3; ++n)
      words[random() % words.size()] ^= std::uint64_t{1} << random() % 64;
    if (i % 7 == 0) words.push_back(random());
    EXPECT_EQ(assemble(disassemble(words)), words);
  }
}

std::string error_of(std::string_view text) {
  try {
    assemble(text, "p.vec");
  } catch (const AssemblyError &error) {
    return error.what();
  }
  return "";
}

TEST(VectorAssembler, RefusesByLineAndReason) {
  struct Case {
    const char *text, *message;
  };
  for (const Case &c : {
           Case{"\nfmad r0, t0, t0, t0", "p.vec:2: 'fmad' is no operation; docs/vector-isa.md lists them"},
           Case{"program r0", "p.vec:1: 'program' is no operation"},
           Case{"add r0, t0", "p.vec:1: add takes a result and 2 operands; there are 2"},
           Case{"add r16, t0, t0", "p.vec:1: there is no r16; r0 to r15 are"},
           Case{"add o4, t0, t0", "p.vec:1: there is no o4; o0 to o3 are"},
           Case{"add t0, t0, t0", "p.vec:1: 't0' cannot be written; a result is r0 to r15 or o0 to o3"},
           Case{"add s0, t0, t0", "p.vec:1: 's0' cannot be written"},
           Case{"set r0, 1.0", "p.vec:1: 'r0' is no scalar; the result of set is one: s0 to s9"},
           Case{"add r0, t5, t0", "p.vec:1: there is no t5; t0 to t4 are"},
           Case{"add r0, o0, t0", "p.vec:1: 'o0' is no operand; use r, t or s and a number, or a constant"},
           Case{"add r0, t0, ||", "p.vec:1: '||' is no operand"},
           Case{"fma r0, 1.0, t0, 2.0", "p.vec:1: '2.0' is a second constant; an instruction has one"},
           Case{"add r0, t0, 0x123456789", "p.vec:1: '0x123456789' has more than 32 bits"},
           Case{"add r0, t0, 1.0.0", "p.vec:1: '1.0.0' is no fp32 number"},
           Case{"add r0, t0, 99999999999", "p.vec:1: '99999999999' is no number of 32 bits"},
           Case{"shl r0, t0, r1", "p.vec:1: 'r1' is no number of 32 bits"},
           Case{"loop 3", "p.vec:1: '3' behind loop; it takes no operand"},
           Case{"loop\nloop\nloop\nloop", "p.vec:4: more than 7 sections; join some"},
           Case{"add r0, t0, t0\n.word 0x1", "p.vec:2: .word among instructions"},
           Case{".word 0x1\nadd r0, t0, t0", "p.vec:2: an instruction among .word lines"},
           Case{".word 1", "p.vec:1: '1' is no 0x number of at most 64 bits"},
           Case{".word", "p.vec:1: .word takes one number of 64 bits"},
       })
    EXPECT_EQ(error_of(c.text).rfind(c.message, 0), 0U) << error_of(c.text);
  std::string longest;
  for (int i = 0; i < 256; ++i)
    longest += "add r0, t0, t0\n";
  EXPECT_NE(error_of(longest).find("section 0 has 256 instructions; a section has at most 255"), std::string::npos);
}

} // namespace
} // namespace gradweave::isa::vector
