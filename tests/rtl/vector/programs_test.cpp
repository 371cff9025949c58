// Random programs on the vector unit's RTL: every line as the interpreter has it, whatever stalls; cycles by lengths
// alone; and faults as the checks tell them.
#include "sw_models/vector/random_program.hpp"
#include "tests/rtl/vector/unit_bench.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace gradweave::vector {
namespace {

using isa::vector::encode;
using isa::vector::Program;
using isa::vector::Words;

using Key = std::tuple<unsigned, unsigned, std::uint32_t, std::uint32_t>;
using Lines = std::map<Key, std::vector<std::uint32_t>>;

/// A line's words depend on its place, the strip but for tiles of `same`; of fp32's kinds each has a share.
void fill_line(LinePlace at, std::uint32_t lanes, std::uint64_t seed, unsigned same, std::uint32_t *line) {
  if ((same >> at.tile & 1U) != 0) at.strip = 0;
  Dice dice(seed ^ (std::uint64_t{at.tile} << 40U | std::uint64_t{at.section} << 36U | std::uint64_t{at.strip} << 18U |
                    at.step));
  for (std::uint32_t i = 0; i < lanes; ++i)
    line[i] = random_fp32(dice);
}

Execution execution(std::uint32_t lanes, std::uint32_t strips, std::uint32_t steps, std::uint64_t seed, Lines &lines,
                    unsigned same = 0) {
  Execution x;
  x.lanes = lanes;
  x.strips = strips;
  x.steps = steps;
  x.read = [=](const LinePlace &at, std::uint32_t *line) { fill_line(at, lanes, seed, same, line); };
  x.write = [=, &lines](const LinePlace &at, const std::uint32_t *line) {
    EXPECT_TRUE(
        lines.emplace(Key{at.tile, at.section, at.strip, at.step}, std::vector<std::uint32_t>(line, line + lanes))
            .second)
        << "a line is written twice";
  };
  return x;
}

template <class S> class VectorUnitPrograms : public testing::Test {};
TYPED_TEST_SUITE(VectorUnitPrograms, Shapes, ShapeNames);

TYPED_TEST(VectorUnitPrograms, RandomOnesGiveTheInterpretersLines) {
  constexpr std::uint64_t kProgramsSeed = 4;
  Dice dice(kProgramsSeed);
  UnitBench<TypeParam> bench;
  std::size_t lines_compared = 0;
  for (int n = 0; n < 250; ++n) {
    const Program program = random_program(dice);
    const auto strips = dice.between(1, 10 * TypeParam::kG), steps = dice.between(1, 7);
    const std::uint64_t seed = dice.bits();
    const unsigned same = dice.chance(0.5) ? 0 : static_cast<unsigned>(dice.below(1U << isa::vector::kTiles));
    Lines right, got;
    interpret(program, execution(TypeParam::kLanes, strips, steps, seed, right, same));
    const unsigned first = dice.between(0, 40);
    bench.load(encode(program), first);
    Dice stalls(seed);
    const double reads = dice.between(1, 4) * 0.25, writes = dice.between(1, 4) * 0.25;
    const UnitRun run = bench.run(
        execution(TypeParam::kLanes, strips, steps, seed, got, same),
        [&](bool read, std::uint64_t) { return stalls.chance(read ? reads : writes); }, first, 0x1FF, same);
    ASSERT_EQ(run.fault, 0U);
    ASSERT_EQ(got, right) << fmt::format("program {}, {} strips, {} steps", n, strips, steps);
    lines_compared += got.size();
  }
  fmt::print("seed {}, {} lines compared\n", kProgramsSeed, lines_compared);
}

/// Cycles are those of the lengths: the same for other values; four a instruction where lines come in time; a line a
/// cycle where they do not.
TYPED_TEST(VectorUnitPrograms, CyclesAreOfLengthsAlone) {
  UnitBench<TypeParam> bench;
  const auto cycles = [&](const Program &program, std::uint32_t strips, std::uint32_t steps, std::uint64_t seed) {
    Lines lines;
    bench.load(encode(program));
    return bench.run(execution(TypeParam::kLanes, strips, steps, seed, lines), always).cycles;
  };
  Dice dice(8);
  for (int n = 0; n < 20; ++n) {
    const Program program = random_program(dice);
    EXPECT_EQ(cycles(program, 9, 4, 1), cycles(program, 9, 4, 2));
  }
  constexpr std::uint32_t kGroup = 4 * TypeParam::kG;
  Program long_one, short_one;
  const isa::vector::Instruction copy{isa::vector::Op::OR, 0, {isa::vector::tile(0), isa::vector::tile(0)}, 0};
  isa::vector::Instruction out = copy;
  out.d = isa::vector::kOutputCode;
  long_one.sections[1].assign(40, copy);
  long_one.sections[1].back() = out;
  short_one.sections[1] = {out};
  EXPECT_EQ(cycles(long_one, kGroup, 101, 1) - cycles(long_one, kGroup, 1, 1), 100U * 4 * 40);
  EXPECT_EQ(cycles(long_one, 2 * kGroup, 50, 1) - cycles(long_one, kGroup, 50, 1), 50U * 4 * 40);
  // With four lines a run, two runs' lines ahead do not cover the way from question to answer, three cycles.
  EXPECT_EQ(cycles(short_one, kGroup, 203, 1) - cycles(short_one, kGroup, 103, 1),
            TypeParam::kG == 1 ? 550U : 100U * kGroup);
  // A line that is the same for all strips takes a cycle a run: less than an instruction does.
  Program reading;
  reading.sections[1] = {copy};
  reading.sections[2] = {out};
  reading.sections[2].front().operands[0] = reading.sections[2].front().operands[1] = isa::vector::reg(0);
  bench.load(encode(reading));
  const auto of_same = [&](std::uint32_t steps) {
    Lines lines;
    return bench.run(execution(TypeParam::kLanes, kGroup, steps, 1, lines, 1), always, 0, 0x1FF, 1);
  };
  const UnitRun more = of_same(203), less = of_same(103);
  EXPECT_EQ(more.lines_read - less.lines_read, 100U);
  EXPECT_EQ(more.cycles - less.cycles, 100U * 4);
}

/// Words that are changed, cut or swapped stop the unit with the code and index that check() has, or do not stop it.
TYPED_TEST(VectorUnitPrograms, FaultsAreThoseOfTheCheck) {
  Dice dice(12);
  UnitBench<TypeParam> bench;
  std::map<unsigned, unsigned> seen;
  for (int n = 0; n < 600; ++n) {
    Words words = encode(random_program(dice));
    for (std::uint64_t i = dice.below(3); i > 0; --i) {
      std::uint64_t &word = words[n % 5 == 0 ? dice.below(2) : dice.below(words.size())];
      if (dice.chance(0.7))
        word ^= std::uint64_t{1} << dice.below(64);
      else
        word = words[dice.below(words.size())];
    }
    const unsigned first = dice.chance(0.1) ? 511 - static_cast<unsigned>(dice.below(words.size())) : 0;
    words.resize(512 - first); // what follows in the memory is zeros
    const auto fault = isa::vector::check(words, 512 - first);
    // A tile that may not be named: found behind what is wrong with the first two words.
    const unsigned fit = dice.chance(0.2) ? ~(1U << dice.below(9)) & 0x1FFU : 0x1FFU;
    unsigned named = 0;
    for (unsigned s = 0; s < isa::vector::kSections; ++s)
      named |= words[1] >> 9 * s & 0x1FFU;
    const bool misfit = (named & ~fit) != 0 && (!fault || fault->index > 1);
    Lines lines;
    bench.load(words, first);
    const UnitRun run = bench.run(execution(TypeParam::kLanes, 3, 2, 1, lines), always, first, fit);
    const unsigned code = misfit  ? static_cast<unsigned>(isa::vector::FaultCode::TILE)
                          : fault ? static_cast<unsigned>(fault->code)
                                  : 0U;
    ASSERT_EQ(run.fault, code) << (fault ? fault->text : "") << " case " << n;
    if (code != 0) {
      ASSERT_EQ(run.fault_at, misfit ? 1U : fault->index) << " case " << n;
    }
    ++seen[run.fault];
  }
  for (unsigned code = 0; code < isa::vector::kFaultNames.size(); ++code)
    if (static_cast<isa::vector::FaultCode>(code) != isa::vector::FaultCode::NUMBER || TypeParam::kG == 1) {
      EXPECT_GT(seen[code], 0U) << "no case has the fault " << isa::vector::kFaultNames[code];
    }
}

} // namespace
} // namespace gradweave::vector
