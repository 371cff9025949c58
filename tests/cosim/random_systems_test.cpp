// Systems at random train small networks on the RTL: all bits, all times.
#include "graph/frontend/load_network.hpp"
#include "graph/ir/error.hpp"
#include "tests/train/system/random_system.hpp"
#include "train/system/system_executor.hpp"
#include "train/trainer.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace gradweave::runtime::train {
namespace {

/// Two steps on a system; false if it cannot be, which tests/train/system looks into.
bool trained_at_random(std::uint64_t seed) {
  const RandomSystem random = random_system(seed);
  graph::TrainingOptions training;
  training.optimizer = graph::OptimizerKind::kSgd;
  training.sparse_embeddings = true;
  compiler::CompileOptions compile;
  compile.plans = 2;
  SystemCaches caches;
  std::unique_ptr<const SystemConfig> system;
  std::unique_ptr<const SystemNetwork> made;
  std::unique_ptr<SystemExecutor> executor;
  try {
    system = std::make_unique<const SystemConfig>(parse_system(random.text, "configs/systems/random.toml"));
    const char *model = seed % 2 == 0 ? "tests/cosim/small_conv.graph" : "tests/cosim/small_dlrm.graph";
    made = std::make_unique<const SystemNetwork>(
        make_system_network(compiler::load_graph(model, random.batch), *system, system->partition, training));
    executor = std::make_unique<SystemExecutor>(*made, *system, compile, caches);
  } catch (const std::exception &) {
    return false;
  }
  const auto feed = synthetic_feed(made->network.graph, seed);
  Trainer trainer(made->step, training, {RateForm::kConstant, 1e-2, 0, 2}, *feed, seed);
  for (int step = 0; step < 2; ++step) {
    const StepResult result = trainer.compared_step(*executor);
    EXPECT_TRUE(result.ok()) << (result.difference ? result.difference->text() : result.failures.front()) << "\n"
                             << random.text;
    if (!result.ok()) break;
  }
  return true;
}

TEST(Systems, TrainAtRandom) {
  int trained = 0;
  for (std::uint64_t seed = 1; trained < 12; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_LT(seed, 200U);
    trained += trained_at_random(seed) ? 1 : 0;
    if (HasFailure()) return;
  }
}

} // namespace
} // namespace gradweave::runtime::train
