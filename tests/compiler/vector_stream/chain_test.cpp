// Parts of a program's loops, one after the other, give what the whole program does: random programs, any cuts.
#include "compiler/vector/chain.hpp"
#include "sw_models/vector/interpreter.hpp"
#include "sw_models/vector/random_program.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <tuple>

namespace gradweave::compiler {
namespace {

using isa::vector::Program;
using Line = std::vector<std::uint32_t>;

constexpr std::uint64_t kChainSeed = 272;
constexpr std::uint32_t kLanes = 3, kSteps = 11;

/// What lines hold at the end: of which result, written outside of loops or in one, in which step.
using Written = std::map<std::tuple<unsigned, bool, std::uint32_t>, Line>;

/// Operand 0 moves with the steps, the others do not.
std::uint32_t element(unsigned tile, std::uint32_t step, std::uint32_t lane) {
  return 0x3F800000U + (tile * 977 + (tile == 0 ? step * 131071 : 0) + lane * 7919) % 0x00FFFFFF;
}

Written run_whole(const Program &program) {
  Written all;
  vector::Execution e;
  e.lanes = kLanes;
  e.steps = kSteps;
  e.read = [](const vector::LinePlace &at, std::uint32_t *line) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
      line[lane] = element(at.tile, at.step, lane);
  };
  e.write = [&](const vector::LinePlace &at, const std::uint32_t *line) {
    all[{at.tile, at.section % 2 == 0, at.step}] = Line(line, line + kLanes);
  };
  interpret(program, e);
  return all;
}

Written run_parts(const Program &program, std::uint32_t chunk) {
  Written all;
  std::map<unsigned, Line> variables;
  for (const unsigned loop : loops_of(program))
    for (std::uint32_t step = 0; step < kSteps; step += chunk) {
      const std::uint32_t steps = std::min(chunk, kSteps - step);
      const ChainPart part = chain_part(program, loop, step == 0, step + steps == kSteps, step);
      EXPECT_FALSE(isa::vector::check(isa::vector::encode(part.program)));
      vector::Execution e;
      e.lanes = kLanes;
      e.steps = steps;
      e.read = [&](const vector::LinePlace &at, std::uint32_t *line) {
        const bool is_state = at.tile >= part.operands.size();
        for (std::uint32_t lane = 0; lane < kLanes; ++lane)
          line[lane] = is_state ? variables.at(part.restored[at.tile - part.operands.size()])[lane]
                                : element(part.operands[at.tile], step + at.step, lane);
      };
      e.write = [&](const vector::LinePlace &at, const std::uint32_t *line) {
        const Line values(line, line + kLanes);
        if (at.tile >= part.results.size())
          variables[part.saved[at.tile - part.results.size()]] = values;
        else
          all[{part.results[at.tile], at.section != 1, at.section == 1 ? step + at.step : 0}] = values;
      };
      interpret(part.program, e);
    }
  return all;
}

/// Reads nothing that moves behind its last loop, where the first step is gone.
bool may_be_cut(const Program &program) {
  const std::vector<unsigned> loops = loops_of(program);
  if (loops.empty()) return false;
  for (unsigned s = loops.back() + 1; s < isa::vector::kSections; ++s)
    if ((isa::vector::mask_of(program.sections[s]) & 1U) != 0) return false;
  return true;
}

TEST(ChainParts, GiveWhatTheWholeProgramDoes) {
  Dice dice(kChainSeed);
  std::size_t compared = 0, refused = 0;
  for (int n = 0; n < 4000; ++n) {
    const Program program = vector::random_program(dice, {4, 2, 2});
    if (!may_be_cut(program)) continue;
    const auto chunk = static_cast<std::uint32_t>(1 + dice.below(kSteps));
    try {
      ASSERT_TRUE(run_whole(program) == run_parts(program, chunk)) << "program " << n << ", seed " << kChainSeed;
      ++compared;
    } catch (const std::length_error &) {
      ++refused;
    }
  }
  EXPECT_GT(compared, 500U) << refused << " were refused";
}

} // namespace
} // namespace gradweave::compiler
