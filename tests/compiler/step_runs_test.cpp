// Runs of woven layers, and gradients beside them, that change when a walk has ended.
#include "compiler/cost/cost.hpp"
#include "compiler/spm/residency.hpp"
#include "tests/compiler/walked_step.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

constexpr std::uint64_t kChanges = 4, kBursts = 100'000'000;

/// By the timing model.
std::uint64_t cycles_of(const Walked &step) {
  const std::optional<Program> program = allocate(step.walk.plans(), step.layers, step.layout, step.npu);
  return program ? program_cycles(*program, step.npu) : 0;
}

/// A gradient that was put off to a layer with banks of its own, and the layer.
TEST(StepRuns, GradientsAndTheirHostsChange) {
  Walked step("small", {convolution(14, 256), convolution(7, 512)});
  step.walk.begin(0);
  const std::uint64_t apart = step.walk.cost();
  step.walk.try_putting_off(kChanges);
  const std::uint64_t before = step.walk.cost();
  ASSERT_LT(before, apart);
  step.walk.change_runs(kBursts);
  EXPECT_LT(step.walk.cost(), before);
  EXPECT_EQ(step.walk.cost(), cycles_of(step)) << "the best of a detour is kept";
}

/// Layers of one shape that are woven in pairs.
TEST(StepRuns, WovenLayersChangeLikeOthersOfTheirShapes) {
  Layer wide = product(196, 64, 256), narrow = product(196, 256, 64);
  Walked step("test8", {wide, narrow, wide, narrow});
  step.walk.begin(0);
  step.walk.try_weaving(kChanges, kChanges);
  const std::uint64_t before = step.walk.cost();
  step.walk.change_runs(kBursts);
  EXPECT_LT(step.walk.cost(), before);
  EXPECT_EQ(step.walk.cost(), cycles_of(step));
}

/// Nothing is woven before.
TEST(StepRuns, AreJoinedWhereThatGains) {
  Walked step("small", {product(784, 64, 256), product(784, 256, 64)});
  step.walk.begin(0);
  const std::uint64_t before = step.walk.cost();
  step.walk.change_runs(kBursts);
  const std::vector<PhasePlan> plans = step.walk.plans();
  EXPECT_TRUE(std::any_of(plans.begin(), plans.end(), [](const PhasePlan &plan) { return plan.woven; }));
  EXPECT_LT(step.walk.cost(), before);
  EXPECT_EQ(step.walk.cost(), cycles_of(step));
}

/// W would come once for both passes.
TEST(StepRuns, EndWhereTheForwardPassDoes) {
  Walked step("small", {product(4, 512, 2048)});
  step.walk.begin(0);
  step.walk.try_weaving(kChanges, kChanges);
  step.walk.change_runs(kBursts);
  for (const PhasePlan &plan : step.walk.plans())
    EXPECT_FALSE(plan.woven);
}

TEST(StepRuns, EndWithTheWorkThatTheyMayTake) {
  Walked step("test8", {product(196, 256, 96), product(196, 96, 256)});
  step.walk.begin(0);
  const std::uint64_t before = step.walk.work().bursts, cost = step.walk.cost();
  step.walk.change_runs(0);
  EXPECT_EQ(step.walk.cost(), cost);
  step.walk.change_runs(1);
  const std::uint64_t once = step.walk.work().bursts - before;
  step.walk.change_runs(20 * once);
  EXPECT_GT(step.walk.work().bursts - before, 10 * once);
}

/// Changes are drawn ahead and priced side by side: those behind one that is gone on from are drawn anew.
TEST(StepRuns, AreTheSameWithAnyNumberOfThreads) {
  std::vector<std::uint64_t> costs, bursts;
  for (const unsigned threads : {1U, 3U}) {
    Walked step("small", {convolution(14, 256), convolution(7, 512)});
    step.walk.use(threads);
    step.walk.begin(0);
    step.walk.try_putting_off(kChanges);
    step.walk.change_runs(kBursts / 2);
    costs.push_back(step.walk.cost());
    bursts.push_back(step.walk.work().bursts);
  }
  EXPECT_EQ(costs[0], costs[1]);
  EXPECT_EQ(bursts[0], bursts[1]);
}

} // namespace
} // namespace gradweave::compiler
