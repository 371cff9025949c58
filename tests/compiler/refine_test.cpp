// The search by the timing model: repeatable, monotonous, and its plans legal.
#include "compiler/cost/cost.hpp"
#include "compiler/lower/describe.hpp"
#include "compiler/search/refine.hpp"
#include "compiler/spm/residency.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/layer_run.hpp"

namespace gradweave::compiler {
namespace {

struct Example {
  Machine npu = load_config("test8");
  Layer layer = make_layer(60, 50, 70);
  Layout layout = make_layout({layer}, Pass::kBackward, npu);
  std::vector<std::vector<PhasePlan>> plans(Schedule schedule) const {
    return search(layer, schedule, Pass::kBackward, {}, layout, npu);
  }
  Refinement start(Schedule schedule) const { return {plans(schedule), layer, layout, npu}; }
};

TEST(Refinement, BeginsWithTheFastestOfThePlans) {
  const Example e;
  std::uint64_t fastest = ~std::uint64_t{0};
  for (const auto &plans : e.plans(Schedule::kSequential))
    fastest = std::min(fastest, program_cycles(allocate(plans, {e.layer}, e.layout, e.npu).value(), e.npu));
  EXPECT_EQ(e.start(Schedule::kSequential).kept().front().cycles, fastest);
}

TEST(Refinement, IsRepeatable) {
  const Example e;
  Refinement one = e.start(Schedule::kSequential);
  Refinement two = e.start(Schedule::kSequential);
  one.run(200);
  two.run(120);
  two.run(80); // in parts, it goes the same way
  EXPECT_EQ(one.kept().front().cycles, two.kept().front().cycles);
  EXPECT_EQ(describe(one.kept().front().plans), describe(two.kept().front().plans));
  EXPECT_EQ(one.effort().candidates, two.effort().candidates);
  EXPECT_EQ(one.effort().simulated, two.effort().simulated);
}

/// Each finds a plan of its own, again and again, whatever else the cache has been asked for.
TEST(Refinement, OtherSeedsFindOtherPlans) {
  const Machine npu = load_config("test8");
  const std::vector<Layer> layers{make_layer(160, 90, 110)};
  CompileCache cache;
  std::set<std::string> tilings;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CompileOptions options;
    options.search_seed = seed;
    const Compiled found = compile(layers, npu, options, cache);
    const Compiled again = compile(layers, npu, options);
    EXPECT_EQ(found.tilings, again.tilings);
    EXPECT_EQ(found.predicted_cycles, again.predicted_cycles);
    tilings.insert(found.tilings.front());
  }
  EXPECT_GT(tilings.size(), 1U);
}

TEST(Refinement, NeverLosesWhatItHas) {
  const Example e;
  for (const Schedule schedule : {Schedule::kSequential, Schedule::kInterleave, Schedule::kDwMajor}) {
    Refinement refinement = e.start(schedule);
    std::uint64_t before = refinement.kept().front().cycles;
    for (int round = 0; round < 10; ++round) {
      refinement.run(30);
      const TimedPlan best = fastest_for(e.layer, e.layer, refinement.kept(), e.layout, e.npu);
      EXPECT_EQ(best.cycles, refinement.kept().front().cycles);
      EXPECT_LE(best.cycles, before);
      EXPECT_EQ(verify_program(best.program, e.layout, e.npu), "");
      EXPECT_EQ(program_cycles(best.program, e.npu), best.cycles);
      before = best.cycles;
    }
  }
}

/// In proportion to the plans, but neither next to nothing nor without end.
TEST(Refinement, WorkFollowsThePlans) {
  const std::uint64_t usual = CompileOptions{}.plans;
  EXPECT_EQ(work_of(usual / 10), usual / 10 * (work_of(usual) / usual));
  EXPECT_EQ(work_of(1), 100'000U);
  EXPECT_EQ(work_of(1000 * usual), 2'000'000U);
}

TEST(SampleOf, IsAnEvenPartOfManyRows) {
  Machine npu = load_config("test8"); // 8 lanes: at least 256 rows
  npu.spm_bytes = 1024;               // 64 rows
  EXPECT_EQ(sample_of(make_layer(1024, 40, 40), npu, 1).m, 256U);
  EXPECT_EQ(sample_of(make_layer(1300, 40, 40), npu, 1).m, 260U) << "a fifth";
  EXPECT_EQ(sample_of(make_layer(1023, 40, 40), npu, 1).m, 1023U) << "less than four times as many";
  EXPECT_EQ(sample_of(make_layer(1024, 40, 40), npu, 2).m, 1024U) << "each part has its own";
}

/// What fits the scratchpad in the sample, but not in the layer, would make plans of the one useless for the other.
TEST(SampleOf, EachTensorFillsTheScratchpadTwice) {
  Machine npu = load_config("test8");
  npu.spm_bytes = 16 * 2048; // 2048 rows
  EXPECT_EQ(sample_of(make_layer(16384, 800, 8), npu).m, 4096U) << "Y and dY have a panel of 8 columns";
  EXPECT_EQ(sample_of(make_layer(16384, 8, 800), npu).m, 4096U) << "X has";
  EXPECT_EQ(sample_of(make_layer(16384, 800, 16), npu).m, 2048U) << "two panels";
  EXPECT_EQ(sample_of(make_layer(16380, 800, 8), npu).m, 16380U);
  Layer grouped = make_layer(64, 9, 1);
  grouped.groups = 1000;
  EXPECT_EQ(sample_of(grouped, npu).groups, 64U) << "64 groups of 64 rows";
  grouped.groups = 128;
  EXPECT_EQ(sample_of(grouped, npu).groups, 128U) << "no less than half of them";
  grouped.groups = 1000;
  grouped.m = 100000;
  EXPECT_EQ(sample_of(grouped, npu).groups, 4U);
}

/// A layer whose sums spill, as long as they all fit an even part of it: conv2_x.conv3x3 of ResNet-50, batch 4.
TEST(SampleOf, SumsThatFitOnlyAPartOfTheLayerDoNotDecide) {
  const Machine npu = load_config("small");
  const Compiled c = compile({make_layer(12544, 576, 64)}, npu, {Schedule::kSequential, Pass::kForward});
  EXPECT_LE(c.predicted_cycles, 740'000U);
}

TEST(Refinement, LeavesOutPlansThatExceedTheMemory) {
  Example e;
  const auto plans = e.plans(Schedule::kDwMajor);
  const std::uint64_t least = Refinement(plans, e.layer, e.layout, e.npu).least_room().bytes(); // commands, too
  e.npu.memory.size_bytes = least;
  Refinement refinement(plans, e.layer, e.layout, e.npu);
  refinement.run(100);
  EXPECT_LE(fastest_for(e.layer, e.layer, refinement.kept(), e.layout, e.npu).program.room().bytes(), least);
  e.npu.memory.size_bytes = least - 1;
  EXPECT_TRUE(Refinement(plans, e.layer, e.layout, e.npu).kept().empty());
}

TEST(Refinement, EndsWhereThereIsNothingToChange) {
  Example e;
  e.npu.spm_banks = 1;
  e.layer = make_layer(1, 1, 1);
  e.layout = make_layout({e.layer}, Pass::kBackward, e.npu);
  Refinement refinement = e.start(Schedule::kInterleave);
  refinement.run(1'000'000);
  EXPECT_LT(refinement.effort().candidates, 10'000U);
}

} // namespace
} // namespace gradweave::compiler
