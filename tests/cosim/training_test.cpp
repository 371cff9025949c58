// Whole steps of training with their products on the RTL: every tensor as the golden execution has it.
#include "graph/frontend/load_network.hpp"
#include "graph/operators/table.hpp"
#include "tests/train/convolution_networks.hpp"
#include "train/trainer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gradweave::runtime::train {
namespace {

/// Steps of a network with AdamW on random data.
void expect_golden(const graph::Graph &forward, const std::string &npu, std::uint64_t steps, std::uint32_t accumulate) {
  graph::TrainingOptions options;
  options.accumulate = accumulate;
  const graph::TrainingGraph step = graph::training_graph(forward, graph::operators(), options);
  const auto feed = synthetic_feed(forward, 1);
  const auto device = make_rtl_device(load_machine(fmt::format("configs/{}.toml", npu)));
  ProductOptions products;
  products.backend = Backend::kRtl;
  products.compile.plans = 20;
  StepExecutor executor(step, *device, products);
  Trainer trainer(step, options, {RateForm::kConstant, 1e-3, 0, steps}, *feed, 1);
  for (std::uint64_t s = 0; s < steps; ++s) {
    const StepResult result = trainer.compared_step(executor);
    ASSERT_TRUE(result.ok()) << (result.difference ? result.difference->text() : result.failures.front());
    EXPECT_GT(result.products.cycles, 0U);
  }
}

TEST(TrainingOnTheRtl, LeNetGivesTheGoldenBits) {
  expect_golden(compiler::load_graph("models/lenet.graph", 2), "test8", 2, 1);
}

TEST(TrainingOnTheRtl, ConvolutionsGiveTheGoldenBits) {
  std::size_t over_images = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Dice dice(seed);
    const Convolution conv = seed % 3 == 0   ? random_convolution(dice)
                             : seed % 3 == 1 ? random_image_convolution(dice)
                                             : random_strided_convolution(dice);
    const auto device = make_rtl_device(load_machine("configs/test8.toml"));
    ProductOptions products;
    products.backend = Backend::kRtl;
    products.compile.plans = 10;
    const ConvolutionStep step = step_around(conv, dice, *device, products);
    EXPECT_EQ(step.problem, "") << "seed " << seed << ": " << conv;
    EXPECT_GT(step.cycles, 0U);
    over_images += step.over_images;
  }
  EXPECT_GT(over_images, 4U);
}

TEST(TrainingOnTheRtl, AccumulatedGradientsAreGolden) {
  expect_golden(compiler::load_graph("models/mlp_fashion.graph", 3), "test6x10", 1, 2);
}

} // namespace
} // namespace gradweave::runtime::train
