// Programs that keep a value for a later loop give what they give whole.
#include "base/random/dice.hpp"
#include "compiler/items/split_program.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/vector/interpreter.hpp"
#include "sw_models/vector/recorder.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace gradweave::compiler {
namespace {

using isa::vector::Program;
using vector::Recorder;
using SplitLine = std::vector<std::uint32_t>;
using SplitLines = std::map<std::pair<unsigned, std::uint32_t>, SplitLine>; ///< of results, by number and step

constexpr std::uint64_t kSplitSeed = 31;
constexpr std::uint32_t kSplitLanes = 3, kSplitSteps = 9;

NpuConfig split_npu() { return load_machine("configs/small.toml"); }

/// A value of a step: operations on operand 0 and a variable, drawn.
Recorder::Value drawn_value(Recorder &record, Recorder::Value variable, std::uint64_t seed) {
  Dice dice(seed);
  Recorder::Value value = record.fma(record.tile(0), Recorder::constant(0x3F000000U), variable);
  for (int i = 0; i < 12; ++i) {
    const Recorder::Value other = dice.below(3) == 0 ? variable : record.tile(0);
    switch (dice.below(4)) {
    case 0:
      value = record.mul(value, other);
      break;
    case 1:
      value = record.max(value, Recorder::neg(other));
      break;
    case 2:
      value = record.iadd(value, other);
      break;
    default:
      value = record.bxor(value, record.shr(other, 3));
    }
  }
  return value;
}

/// Two loops that compute the same of a variable, which may be changed between them.
Program twice(std::uint64_t seed, bool changed) {
  Recorder record;
  const Recorder::Value variable = record.variable(Recorder::constant(0x3F800000U + static_cast<std::uint32_t>(seed)));
  const Recorder::Value sum = record.variable(Recorder::constant(0));
  record.loop();
  record.assign(sum, record.add(sum, drawn_value(record, variable, seed)));
  record.once();
  if (changed) record.assign(variable, record.add(variable, Recorder::constant(0x3F800000U)));
  record.loop();
  record.output(0, record.mul(drawn_value(record, variable, seed), sum));
  return record.program();
}

std::uint32_t split_element(std::uint32_t step, std::uint32_t lane) {
  return 0x3F800000U + (step * 131071 + lane * 7919) % 0x00FFFFFF;
}

SplitLine operand_line(std::uint32_t step) {
  SplitLine line;
  for (std::uint32_t lane = 0; lane < kSplitLanes; ++lane)
    line.push_back(split_element(step, lane));
  return line;
}

SplitLines run_whole_program(const Program &program) {
  SplitLines all;
  vector::Execution e;
  e.lanes = kSplitLanes;
  e.steps = kSplitSteps;
  e.read = [](const vector::LinePlace &at, std::uint32_t *line) {
    const SplitLine values = operand_line(at.step);
    std::copy(values.begin(), values.end(), line);
  };
  e.write = [&](const vector::LinePlace &at, const std::uint32_t *line) {
    all[{at.tile, at.step}] = SplitLine(line, line + kSplitLanes);
  };
  interpret(program, e);
  return all;
}

/// Operands and results from 1 on are what is kept.
SplitLines run_split_program(const SplitProgram &split) {
  SplitLines all;
  std::map<unsigned, SplitLine> variables;
  for (const ChainPart &part : split.parts) {
    EXPECT_FALSE(isa::vector::check(isa::vector::encode(part.program)));
    vector::Execution e;
    e.lanes = kSplitLanes;
    e.steps = kSplitSteps;
    e.read = [&](const vector::LinePlace &at, std::uint32_t *line) {
      const bool variable = at.tile >= part.operands.size();
      const SplitLine values = variable ? variables.at(part.restored[at.tile - part.operands.size()])
                               : part.operands[at.tile] > 0 ? all.at({part.operands[at.tile], at.step})
                                                            : operand_line(at.step);
      std::copy(values.begin(), values.end(), line);
    };
    e.write = [&](const vector::LinePlace &at, const std::uint32_t *line) {
      const SplitLine values(line, line + kSplitLanes);
      if (at.tile >= part.results.size())
        variables[part.saved[at.tile - part.results.size()]] = values;
      else
        all[{part.results[at.tile], at.step}] = values;
    };
    interpret(part.program, e);
  }
  for (std::uint32_t step = 0; step < kSplitSteps; ++step)
    for (unsigned kept = 1; kept <= split.kept; ++kept)
      all.erase({kept, step});
  return all;
}

TEST(SplitProgram, GivesWhatTheWholeProgramDoes) {
  std::size_t shorter = 0;
  for (std::uint64_t seed = kSplitSeed; seed < kSplitSeed + 200; ++seed) {
    const Program program = twice(seed, false);
    const auto split = split_program(program, 1, 1, kSplitSteps, 0, split_npu());
    ASSERT_TRUE(split) << "seed " << seed;
    ASSERT_EQ(split->parts.size(), 2U);
    ASSERT_TRUE(run_whole_program(program) == run_split_program(*split)) << "seed " << seed;
    shorter += split->parts[1].program.sections[1].size() < 4 ? 1 : 0;
  }
  EXPECT_EQ(shorter, 200U);
}

/// What depends on a variable that has changed is another value; what does not may be kept.
TEST(SplitProgram, AChangedVariableIsNotTakenForTheSame) {
  for (std::uint64_t seed = kSplitSeed; seed < kSplitSeed + 200; ++seed) {
    const Program program = twice(seed, true);
    const auto split = split_program(program, 1, 1, kSplitSteps, 0, split_npu());
    if (split) {
      ASSERT_TRUE(run_whole_program(program) == run_split_program(*split)) << "seed " << seed;
    }
  }
}

/// As a softmax's: masked scores are wanted by two loops, their powers by two others.
TEST(SplitProgram, KeepsTwoValues) {
  Recorder record;
  const Recorder::Value most = record.variable(Recorder::constant(0xFF800000U)),
                        sum = record.variable(Recorder::constant(0));
  const auto score = [&] { return record.fma(record.tile(0), Recorder::constant(0x3F000000U), record.tile(1)); };
  const auto power = [&] {
    Recorder::Value value = record.add(score(), Recorder::neg(most));
    for (int i = 0; i < 5; ++i)
      value = record.fma(value, value, value);
    return value;
  };
  record.loop();
  record.assign(most, record.max(most, score()));
  record.loop();
  record.assign(sum, record.add(sum, power()));
  record.loop();
  record.output(0, record.mul(power(), sum));
  const auto split = split_program(record.program(), 2, 1, kSplitSteps, 0, split_npu());
  ASSERT_TRUE(split);
  EXPECT_EQ(split->kept, 2U);
  ASSERT_EQ(split->parts.size(), 3U);
  EXPECT_EQ(split->parts[0].operands, (std::vector<unsigned>{0, 1}));
  EXPECT_EQ(split->parts[1].operands.size(), 1U); // the scores
  EXPECT_EQ(split->parts[2].operands.size(), 1U); // the powers
}

/// Lines that would be read again are a gain, but for those that are the same for all lanes.
TEST(SplitProgram, CountsALineForAllLanesOnce) {
  Recorder record;
  const Recorder::Value sum = record.variable(Recorder::constant(0));
  const auto value = [&] { return record.add(record.tile(0), record.tile(1)); };
  record.loop();
  record.assign(sum, record.add(sum, value()));
  record.loop();
  record.output(0, record.mul(value(), sum));
  EXPECT_TRUE(split_program(record.program(), 2, 1, kSplitSteps, 0, split_npu()));
  EXPECT_FALSE(split_program(record.program(), 2, 1, kSplitSteps, 0b10, split_npu()));
}

TEST(SplitProgram, NeedsAFreeTileAndAGain) {
  EXPECT_FALSE(split_program(twice(1, false), isa::vector::kTiles, 1, kSplitSteps, 0, split_npu()));
  EXPECT_FALSE(split_program(twice(1, false), 1, isa::vector::kOutputs, kSplitSteps, 0, split_npu()));
  Recorder record;
  const Recorder::Value sum = record.variable(Recorder::constant(0));
  record.loop();
  record.assign(sum, record.add(sum, record.tile(0)));
  record.loop();
  record.output(0, record.mul(record.tile(0), sum));
  EXPECT_FALSE(split_program(record.program(), 1, 1, kSplitSteps, 0, split_npu()));
}

} // namespace
} // namespace gradweave::compiler
