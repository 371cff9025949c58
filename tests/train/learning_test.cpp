// Networks that learn: one epoch of Fashion-MNIST by golden execution.
#include "graph/frontend/load_network.hpp"
#include "graph/operators/table.hpp"
#include "train/trainer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gradweave::runtime::train {
namespace {

/// AdamW, 4e-3 falling linearly to 0 over one epoch of batches of 64.
double accuracy_after_an_epoch(const graph::Graph &forward, std::uint64_t seed) {
  const auto directory = find_dataset("fashion-mnist");
  const Dataset learned = load_dataset(directory, Split::kTrain), test = load_dataset(directory, Split::kTest);
  const graph::TrainingOptions options;
  const graph::TrainingGraph step = graph::training_graph(forward, graph::operators(), options);
  const auto feed = image_feed(forward, learned, seed, true);
  const std::uint64_t steps = feed->batches_an_epoch();
  Trainer trainer(step, options, {RateForm::kLinear, 4e-3, 0, steps}, *feed, seed);
  const StepExecutor executor(step);
  for (std::uint64_t s = 0; s < steps; ++s)
    trainer.step(executor);
  return evaluate(forward, step, trainer.living(), test).accuracy();
}

class Learning : public testing::TestWithParam<const char *> {};

TEST_P(Learning, Reaches85PercentInAnEpoch) {
  for (const std::uint64_t seed : {1U, 2U}) {
    const double accuracy =
        accuracy_after_an_epoch(compiler::load_graph(fmt::format("models/{}.graph", GetParam()), 64), seed);
    fmt::print("{}, seed {}: {:.2f} %\n", GetParam(), seed, 100 * accuracy);
    EXPECT_GE(accuracy, 0.85) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, Learning, testing::Values("mlp_fashion", "lenet"),
                         [](const auto &param_info) { return std::string(param_info.param); });

} // namespace
} // namespace gradweave::runtime::train
