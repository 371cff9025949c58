// A whole network of the size that others simulate: every layer compiles, and no stream beats its bounds.
#include "graph/frontend/load_network.hpp"
#include "tests/compiler/layer_run.hpp"

namespace gradweave::compiler {
namespace {

void compile_all(const std::string &config, std::uint32_t batch, Pass pass) {
  const Machine npu = load_config(config);
  const Network network = load_network("models/resnet50.graph", batch);
  for (const Layer &layer : network.layers) {
    SCOPED_TRACE(layer.name);
    const Compiled ideal = compile_known(layer, npu, {Schedule::kIdeal, pass});
    const Compiled rearrange = compile_known(layer, npu, {Schedule::kRearrange, pass});
    EXPECT_GE(ideal.predicted_cycles, ideal.bounds.run_cycles);
    EXPECT_LE(ideal.predicted_cycles, rearrange.predicted_cycles);
    EXPECT_LT(rearrange.predicted_cycles, 3 * rearrange.bounds.run_cycles);
  }
}

TEST(Resnet50, ForwardOfOneImageOnLarge) { compile_all("large", 1, Pass::kForward); }
TEST(Resnet50, TrainingStepOnLarge) { compile_all("large", 1, Pass::kBoth); }
TEST(Resnet50, TrainingStepOfFourImagesOnSmall) { compile_all("small", 4, Pass::kBoth); }

} // namespace
} // namespace gradweave::compiler
