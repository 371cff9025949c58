// From operations to programs: constants, registers, loops, and what does not fit.
#include "isa/vector/assembler.hpp"
#include "tests/sw_models/vector/program_run.hpp"

#include <gtest/gtest.h>

namespace gradweave::vector {
namespace {

using isa::vector::check;
using isa::vector::disassemble;
using isa::vector::encode;
using isa::vector::Program;
using V = Recorder::Value;

TEST(Recorder, ConstantsStandInTheirInstructionsOrInScalars) {
  Recorder p;
  p.loop();
  const V x = p.tile(0);
  p.output(0, p.fma(p.fma(x, p.constant(5), p.constant(6)), p.neg(p.constant(7)), p.abs(p.neg(x))));
  EXPECT_EQ(disassemble(encode(p.program())), "once\n  set s0, 0x00000005\nloop\n  fma r0, t0, s0, 0x00000006\n"
                                              "  fma o0, r0, 0x80000007, |t0|\n");
}

TEST(Recorder, ASecondConstantOfAShiftIsAScalar) {
  Recorder p;
  p.output(0, p.shl(p.constant(9), 3));
  EXPECT_EQ(disassemble(encode(p.program())), "once\n  set s0, 0x00000009\n  shl o0, s0, 3\n");
}

TEST(Recorder, DeadResultsAreLeftOut) {
  Recorder p;
  const V dead = p.add(p.tile(0), p.tile(1));
  p.mul(dead, dead);
  p.output(0, p.add(p.tile(0), p.tile(0)));
  EXPECT_EQ(p.program().sections[0].size(), 1U);
}

TEST(Recorder, WhatIsNoFreshResultIsCopiedToItsOutput) {
  Recorder p;
  const V sum = p.add(p.tile(0), p.tile(0));
  p.output(0, sum);
  const V twice = p.add(p.tile(0), p.tile(1));
  const V thrice = p.add(twice, p.tile(1));
  p.output(1, p.neg(thrice));
  p.output(2, twice);
  p.output(3, p.constant(4));
  EXPECT_EQ(disassemble(encode(p.program())), "once\n  add o0, t0, t0\n  add r0, t0, t1\n  add r1, r0, t1\n"
                                              "  or o1, -r1, -r1\n  or o2, r0, r0\n  or o3, 0x00000004, 0x00000004\n");
}

/// The greatest, the sum of the exponentials, the shares: three loops over a strip, values that live across them.
TEST(Recorder, ASoftmaxKeepsItsVariablesAcrossLoops) {
  Recorder p;
  const V most = p.variable(p.constant(0xFF800000U));
  const V sum = p.variable(p.constant(0));
  p.loop();
  p.assign(most, p.max(most, p.tile(0)));
  p.loop();
  p.assign(sum, p.add(sum, functions::exp(p, p.add(p.tile(0), p.neg(most)))));
  p.once();
  const V share = functions::reciprocal(p, sum);
  p.loop();
  p.output(0, p.mul(functions::exp(p, p.add(p.tile(0), p.neg(most))), share));
  const Program program = p.program();
  const auto fault = check(encode(program));
  ASSERT_FALSE(fault) << fault->text;

  constexpr std::uint32_t kSteps = 37, kLanes = 70;
  Dice dice(5);
  Elements in(kSteps * kLanes), out(kSteps * kLanes);
  for (std::uint32_t &word : in)
    word = static_cast<std::uint32_t>(dice.bits() & 0x80FFFFFFU) + 0x3F000000U;
  Execution x;
  x.lanes = kLanes;
  x.steps = kSteps;
  x.read = [&](const LinePlace &at, std::uint32_t *line) { std::copy_n(&in[at.step * kLanes], kLanes, line); };
  x.write = [&](const LinePlace &at, const std::uint32_t *line) { std::copy_n(line, kLanes, &out[at.step * kLanes]); };
  interpret(program, x);

  functions::Fp32 f;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    std::uint32_t m = 0xFF800000U, s = 0;
    for (std::uint32_t i = 0; i < kSteps; ++i)
      m = f.max(m, in[i * kLanes + lane]);
    for (std::uint32_t i = 0; i < kSteps; ++i)
      s = f.add(s, functions::exp(f, f.add(in[i * kLanes + lane], f.neg(m))));
    const std::uint32_t r = functions::reciprocal(f, s);
    for (std::uint32_t i = 0; i < kSteps; ++i)
      ASSERT_EQ(out[i * kLanes + lane], f.mul(functions::exp(f, f.add(in[i * kLanes + lane], f.neg(m))), r));
  }
}

std::string error_of(const Recorder &p) {
  try {
    p.program();
  } catch (const RecordingError &error) {
    return error.what();
  }
  return "";
}

TEST(Recorder, SaysWhatDoesNotFit) {
  Recorder wide;
  std::vector<V> values;
  for (unsigned i = 0; i < 17; ++i)
    values.push_back(wide.add(wide.tile(0), wide.constant(i)));
  for (unsigned i = 0; i < 16; ++i)
    values[0] = wide.add(values[0], values[i + 1]);
  wide.output(0, values[0]);
  EXPECT_NE(error_of(wide).find("more than 16 registers"), std::string::npos);

  Recorder constants;
  V sum = constants.tile(0);
  for (unsigned i = 0; i < 12; ++i)
    sum = constants.fma(sum, constants.constant(2 * i), constants.constant(2 * i + 1));
  constants.output(0, sum);
  EXPECT_NE(error_of(constants).find("more than 10 scalars"), std::string::npos);

  Recorder length;
  sum = length.tile(0);
  for (unsigned i = 0; i < 256; ++i)
    sum = length.add(sum, length.tile(0));
  length.output(0, sum);
  EXPECT_NE(error_of(length).find("a section has 256 instructions; at most 255 fit"), std::string::npos);

  Recorder sections;
  for (unsigned i = 0; i < 4; ++i)
    sections.loop();
  EXPECT_NE(error_of(sections).find("more than 7 sections"), std::string::npos);
}

/// Random sequences of operations with values that live long, against the same on bits.
TEST(Recorder, RandomSequencesKeepTheirValues) {
  constexpr std::uint64_t kSequences = 3;
  RecordProperty("seed", static_cast<int>(kSequences));
  Dice dice(kSequences);
  const Elements t0 = mixed_inputs(200, dice), t1 = mixed_inputs(200, dice);
  for (int n = 0; n < 200; ++n) {
    const std::uint64_t seed = dice.bits();
    const auto sequence = [seed](auto &p, auto a, auto b) {
      Dice choice(seed);
      std::vector<decltype(a)> live = {a, b};
      for (int i = 0; i < 60; ++i) {
        const auto x = live[choice.below(live.size())], y = live[choice.below(live.size())];
        auto made = x;
        switch (choice.below(6)) {
        case 0:
          made = p.add(x, p.neg(y));
          break;
        case 1:
          made = p.mul(p.abs(x), y);
          break;
        case 2:
          made = p.fma(x, p.constant(static_cast<std::uint32_t>(choice.below(3)) << 28U), y);
          break;
        case 3:
          made = p.select(x, y, p.neg(p.abs(x)));
          break;
        case 4:
          made = p.bxor(p.shr(x, static_cast<unsigned>(choice.below(32))), y);
          break;
        default:
          made = p.isub(x, y);
        }
        if (live.size() < 10)
          live.push_back(made);
        else
          live[choice.below(live.size())] = made;
      }
      for (std::size_t i = 1; i < live.size(); ++i)
        live[0] = p.bxor(live[0], live[i]);
      return live[0];
    };
    const Elements got = run_program(binary_program(sequence), t0, t1);
    functions::Fp32 p;
    for (std::size_t i = 0; i < t0.size(); ++i)
      ASSERT_EQ(got[i], sequence(p, t0[i], t1[i])) << "sequence " << n;
  }
}

} // namespace
} // namespace gradweave::vector
