// Cycles of programs on the vector unit's RTL: those of the timing model, for legal programs and for those with a
// fault.
#include "sw_models/timing/engines/vector_program.hpp"
#include "sw_models/vector/random_program.hpp"
#include "tests/rtl/vector/unit_bench.hpp"

#include <fmt/format.h>

namespace gradweave::vector {
namespace {

using isa::vector::Words;

constexpr unsigned kMemoryWords = 512;

template <class S> class VectorUnitCycles : public testing::Test {
protected:
  /// A run of any sizes, counted up to any cycle, by the RTL and by the model.
  void check(const Words &words, Dice &dice) {
    const auto fault = isa::vector::check(words, kMemoryWords);
    const auto strips = dice.between(1, 10 * S::kG), steps = dice.between(1, dice.chance(0.1) ? 60 : 6);
    Execution x;
    x.lanes = S::kLanes;
    x.strips = strips;
    x.steps = steps;
    x.read = [](const LinePlace &, std::uint32_t *line) { std::fill_n(line, S::kLanes, 0x3F800000U); };
    x.write = [](const LinePlace &, const std::uint32_t *) {};
    const std::uint64_t limit = dice.chance(0.5) ? UnitBench<S>::kMost : dice.below(2000);
    const unsigned same = dice.chance(0.5) ? 0 : static_cast<unsigned>(dice.below(1U << isa::vector::kTiles));
    bench.load(words);
    const UnitRun run = bench.run(x, always, 0, 0x1FF, same, limit);
    const timing::VectorTimes model = timing::time_program({words, fault, same}, S::kG, strips, steps, limit);
    const std::string what = fmt::format("{} strips, {} steps, same {:#x}, limit {}, fault {} at {}", strips, steps,
                                         same, limit, run.fault, run.fault_at);
    ASSERT_EQ(run.cycles, model.done + 1) << what;
    EXPECT_EQ(run.active, model.active) << what;
    EXPECT_EQ(run.stalled, model.stalled) << what;
    EXPECT_EQ(run.lines_read, model.lines_read) << what;
    EXPECT_EQ(run.lines_written, model.lines_written) << what;
    cycles += run.cycles;
  }

  UnitBench<S> bench;
  std::uint64_t cycles = 0;
};
TYPED_TEST_SUITE(VectorUnitCycles, Shapes, ShapeNames);

TYPED_TEST(VectorUnitCycles, OfLegalProgramsAreTheModels) {
  constexpr std::uint64_t kSeed = 21;
  Dice dice(kSeed);
  for (int n = 0; n < 400; ++n) {
    SCOPED_TRACE(n);
    ASSERT_NO_FATAL_FAILURE(this->check(isa::vector::encode(random_program(dice)), dice));
    if (this->HasFailure()) return;
  }
  fmt::print("seed {}, {} cycles\n", kSeed, this->cycles);
}

TYPED_TEST(VectorUnitCycles, OfProgramsWithFaultsAreTheModels) {
  constexpr std::uint64_t kSeed = 22;
  Dice dice(kSeed);
  for (int n = 0; n < 400; ++n) {
    SCOPED_TRACE(n);
    Words words = isa::vector::encode(random_program(dice));
    for (std::uint64_t i = 1 + dice.below(2); i > 0; --i)
      words[n % 8 == 0 ? dice.below(2) : dice.below(words.size())] ^= std::uint64_t{1} << dice.below(64);
    words.resize(kMemoryWords); // what follows in the memory is zeros
    ASSERT_NO_FATAL_FAILURE(this->check(words, dice));
    if (this->HasFailure()) return;
  }
  fmt::print("seed {}, {} cycles\n", kSeed, this->cycles);
}

} // namespace
} // namespace gradweave::vector
