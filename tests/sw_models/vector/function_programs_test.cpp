// Programs of the functions of N19 and N20 give the bits of the functions.
#include "isa/vector/assembler.hpp"
#include "sw_models/functions/count.hpp"
#include "tests/sw_models/vector/program_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave::vector {
namespace {

using isa::vector::encode;
using isa::vector::kScalarCode;
using isa::vector::Op;
using isa::vector::Program;

constexpr std::uint64_t kSeed = 27;

TEST(FunctionPrograms, EqualTheFunctions) {
  Dice dice(kSeed);
  const Elements t0 = mixed_inputs(60'000, dice), t1 = mixed_inputs(60'000, dice);
  for (const FunctionProgram &f : function_programs()) {
    const Elements got = run_program(f.program(), t0, t1);
    std::size_t at = 0;
    EXPECT_EQ(differences(f.name, got, t0, t1, at), 0U)
        << fmt::format("{}, seed {}: of 0x{:08X}, 0x{:08X} it gives 0x{:08X}", f.name, kSeed, t0[at], t1[at], got[at]);
  }
}

TEST(FunctionPrograms, QuotientsOfSpecialsAreRight) {
  const Elements specials = special_inputs();
  Elements t0, t1;
  for (std::size_t i = 0; i < specials.size(); ++i)
    for (std::size_t j = i % 13; j < specials.size(); j += 13) {
      t0.push_back(specials[i]);
      t1.push_back(specials[j]);
    }
  std::size_t at = 0;
  EXPECT_EQ(differences("divide", run_program(function_programs()[8].program(), t0, t1), t0, t1, at), 0U);
}

TEST(FunctionPrograms, AreLegalAndSurviveTheirText) {
  for (const FunctionProgram &f : function_programs()) {
    const isa::vector::Words words = encode(f.program());
    const auto fault = isa::vector::check(words);
    EXPECT_FALSE(fault) << f.name << ": " << fault->text;
    EXPECT_EQ(isa::vector::assemble(isa::vector::disassemble(words)), words) << f.name;
  }
}

/// One operation an instruction, and no more: docs/functions.md's lengths are the programs'.
TEST(FunctionPrograms, HaveTheFunctionsOperations) {
  const auto length = [](std::string_view name) {
    for (const FunctionProgram &f : function_programs())
      if (f.name == name) return f.program().sections[1].size();
    return std::size_t{0};
  };
  const auto operations = [](auto sequence) {
    functions::Count p;
    sequence(p);
    return std::size_t{p.operations()};
  };
  using C = functions::Count;
  EXPECT_EQ(length("exp"), operations([](C &p) { functions::exp(p, {}); }));
  EXPECT_EQ(length("erf"), operations([](C &p) { functions::erf(p, {}); }));
  EXPECT_EQ(length("tanh"), operations([](C &p) { functions::tanh(p, {}); }));
  EXPECT_EQ(length("sigmoid"), operations([](C &p) { functions::sigmoid(p, {}); }));
  EXPECT_EQ(length("log"), operations([](C &p) { functions::log(p, {}); }));
  EXPECT_EQ(length("divide"), operations([](C &p) { functions::divide(p, {}, {}); }));
  EXPECT_EQ(length("rsqrt"), operations([](C &p) { functions::rsqrt(p, {}); }));
  fmt::print("{:<22} {:>12} {:>9} {:>7}\n", "program", "instructions", "registers", "scalars");
  for (const FunctionProgram &f : function_programs()) {
    const Program program = f.program();
    unsigned registers = 0;
    for (const auto &i : program.sections[1])
      if (i.d < isa::vector::kRegisters) registers = std::max(registers, i.d + 1U);
    fmt::print("{:<22} {:>12} {:>9} {:>7}\n", f.name, program.sections[1].size(), registers,
               program.sections[0].size());
  }
}

/// Some inputs see any changed instruction: another operation, operands exchanged, a sign the other way.
TEST(FunctionPrograms, AChangedInstructionIsSeen) {
  Dice dice(kSeed);
  const Elements t0 = mixed_inputs(20'000, dice), t1 = mixed_inputs(20'000, dice);
  unsigned changes = 0;
  for (const FunctionProgram &f : function_programs()) {
    const Program right = f.program();
    const auto &loop = right.sections[1];
    for (std::size_t n = 0; n < loop.size(); ++n) {
      Program wrong = right;
      isa::vector::Instruction &i = wrong.sections[1][n];
      if (i.op == Op::FMA)
        i.operands[2].neg = !i.operands[2].neg;
      else if (i.op == Op::SELECT)
        std::swap(i.operands[1], i.operands[2]);
      else if (i.op == Op::SHL || i.op == Op::SHR || i.op == Op::SRA)
        i.constant ^= 1U;
      else
        i.op = i.op == Op::XOR ? Op::AND : Op::XOR;
      std::size_t at = 0;
      const std::size_t bad = differences(f.name, run_program(wrong, t0, t1), t0, t1, at);
      EXPECT_GT(bad, 0U) << f.name << ", instruction " << n;
      ++changes;
    }
  }
  fmt::print("{} changed instructions, each seen\n", changes);
}

} // namespace
} // namespace gradweave::vector
