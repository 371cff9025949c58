// Plans of layers that are found when a walk has ended or that move less, and gradients that were put off before.
#include "compiler/cost/cost.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/spm/residency.hpp"
#include "tests/compiler/walked_step.hpp"

namespace gradweave::compiler {
namespace {

TEST(StepConventional, AWalkTakesPlansThatAreFoundLate) {
  Walked step("test8", {product(196, 256, 96)});
  step.walk.begin(0);
  step.walk.try_conventional();
  const std::uint64_t before = step.walk.cost();
  ASSERT_TRUE(step.own.search_conventional(10 * step.own.conventional_work().bursts, 1, {}));
  step.walk.try_conventional();
  EXPECT_LT(step.walk.cost(), before);
  const std::uint64_t after = step.walk.cost();
  step.walk.try_conventional();
  EXPECT_EQ(step.walk.cost(), after) << "there is nothing new";
}

/// A gradient that waits for memory goes to a layer that computes for long; then the plans of both change further.
TEST(StepGradients, ThoseThatWerePutOffGoOn) {
  Walked step("small", {convolution(14, 256), convolution(7, 512)});
  step.walk.begin(0);
  const std::uint64_t apart = step.walk.cost();
  step.walk.try_putting_off(4);
  const std::uint64_t beside = step.walk.cost();
  ASSERT_LT(beside, apart);
  step.walk.try_putting_off(80);
  EXPECT_LT(step.walk.cost(), beside);
}

/// Of the layer's pass by itself.
std::uint64_t bytes_of(std::vector<PhasePlan> plans, const Layer &layer, Pass pass, const Machine &npu) {
  for (PhasePlan &plan : plans) {
    plan.layer = 0;
    plan.products = plan_products(plan, layer, npu);
  }
  const std::optional<Program> program = allocate(plans, {layer}, make_layout({layer}, pass, npu), npu);
  return program ? moved_bytes(*program, npu) : 0;
}

TEST(StepThrifty, PlansMoveLess) {
  Walked step("small", {convolution(28, 128)});
  step.own.prepare_thrifty(1);
  std::uint64_t usual = 0, thrifty = 0;
  step.own.for_passes([&](std::size_t i, Pass pass) {
    const Layer &layer = step.layers[i];
    usual += bytes_of(step.own.of(i, pass).best().phases, layer, pass, step.npu);
    thrifty += bytes_of(step.own.thrifty(i, pass)->best().phases, layer, pass, step.npu);
  });
  EXPECT_LT(thrifty, usual);
  EXPECT_GT(step.own.thrifty_work().bursts, 0U);
}

/// What is put off and what it runs beside both need the memory.
TEST(StepThrifty, GradientsAndHostsTakePlansThatMoveLess) {
  constexpr std::uint64_t kChanges = 8;
  Walked usual("small", {convolution(14, 256), convolution(7, 512)});
  Walked offered("small", usual.layers);
  offered.own.prepare_thrifty(1);
  PlansBeside beside(offered.own.machine().tiles, kPlans, Objective::kEdp, {});
  offered.walk.offer_thrifty(offered.own, beside);
  for (Walked *step : {&usual, &offered}) {
    step->walk.begin(0);
    step->walk.try_putting_off(kChanges);
  }
  EXPECT_LT(offered.walk.cost(), usual.walk.cost());
}

} // namespace
} // namespace gradweave::compiler
