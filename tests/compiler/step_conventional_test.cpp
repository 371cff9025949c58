// Plans of layers that are found when a walk has ended, and gradients that were put off before.
#include "compiler/lower/layout.hpp"
#include "compiler/schedule/step/step_walk.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/step_run.hpp"

namespace gradweave::compiler {
namespace {

constexpr std::uint64_t kPlans = 12;

/// A walk of layers from their first plans.
struct Walked {
  Machine npu;
  std::vector<Layer> layers;
  Layout layout;
  StepPlans own;
  PlansBeside beside;
  std::function<void()> progress;
  StepWalk walk;

  Walked(const char *config, std::vector<Layer> all)
      : npu(load_config(config)), layers(std::move(all)), layout(make_layout(layers, Pass::kBoth, npu)),
        own(layers, Pass::kBoth, layout, npu, kPlans, Objective::kCycles, {}),
        beside(own.machine().tiles, kPlans, Objective::kCycles, {}), walk(prepared()) {}

private:
  StepWalk prepared() {
    own.prepare(1, {});
    return {layers, layout, own, beside, progress};
  }
};

Layer product(std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  Layer layer = make_layer(m, k, n);
  layer.dx = true;
  return layer;
}

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

/// A 3 x 3 convolution of four square images.
Layer convolution(std::uint32_t side, std::uint32_t channels) {
  Convolution conv;
  conv.batch = 4;
  conv.height = conv.width = side;
  conv.channels = conv.out_channels = channels;
  conv.kernel_height = conv.kernel_width = 3;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  Layer layer = image_layer(conv);
  layer.dx = true;
  return layer;
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

} // namespace
} // namespace gradweave::compiler
