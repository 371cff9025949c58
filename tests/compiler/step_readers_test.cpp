// Layers of a step that read the same X with others between them: where X is what they wait for, they run woven.
#include "compiler/back/compile_plan.hpp"
#include "compiler/schedule/step/step_search.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/step_run.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// A block's first layer, the one behind it, and a projection that reads what the first reads: a wide X that does not
/// fit the scratchpad.
struct Projected {
  Machine npu = load_config("test8");
  std::vector<Layer> layers{make_layer(640, 48, 8), make_layer(640, 8, 8), make_layer(640, 48, 8)};

  Projected() {
    const char *names[] = {"reduce", "inner", "projection"};
    for (std::uint32_t i = 0; i < 3; ++i) {
      layers[i].name = names[i];
      layers[i].index = i;
      layers[i].dx = i == 1; // X is the network's
    }
    layers[1].input = "reduce";
    layers[2].x_of = "reduce";
  }

  SearchedStep search(Pass pass) const {
    StepOptions options;
    options.pass = pass;
    options.layer_plans = 12;
    options.step_plans = 40;
    return search_step(layers, npu, options);
  }
};

std::vector<std::uint32_t> order_of(const std::vector<PhasePlan> &plans) {
  std::vector<std::uint32_t> order;
  for (const PhasePlan &p : plans)
    if (order.empty() || order.back() != p.layer) order.push_back(p.layer);
  return order;
}

TEST(StepReaders, XComesOnceForLayersThatOthersLieBetween) {
  const Projected net;
  const SearchedStep found = net.search(Pass::kForward);
  EXPECT_EQ(order_of(found.plans), (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_TRUE(found.plans[1].woven);
  const Compiled step = compile_plans(net.layers, Pass::kForward, found.plans, net.npu);
  const Traffic &x = step.traffic[0][static_cast<std::size_t>(Tensor::kX)];
  const std::uint64_t once = std::uint64_t{net.layers[0].m} * net.layers[0].k * 2;
  ASSERT_GT(once, net.npu.spm_bytes) << "X would stay anyway";
  EXPECT_LT(x.read_bytes, once + once / 4);
  expect_golden(step, net.npu, 1);
}

/// The first layer's gradients wait for those of the layer behind it, so the projection's come to them.
TEST(StepReaders, GradientsDoNotPassWhatTheyRead) {
  const Projected net;
  const SearchedStep found = net.search(Pass::kBackward);
  const std::vector<std::uint32_t> order = order_of(found.plans);
  const auto at = [&](std::uint32_t layer) { return std::find(order.begin(), order.end(), layer); };
  EXPECT_LT(at(1), at(2)) << "the projection runs beside the first layer";
  EXPECT_LT(at(1), at(0));
  expect_golden(compile_plans(net.layers, Pass::kBackward, found.plans, net.npu), net.npu, 1);
}

} // namespace
} // namespace gradweave::compiler
