// From graphs to iterations: which steps there are, what they touch, how much they compute.
#include "graph/frontend/load_network.hpp"
#include "graph/operators/table.hpp"
#include "graph/text/read.hpp"
#include "memory_model/iteration/from_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace gradweave::memory_model {
namespace {

Iteration iteration(const std::string &text, const IterationOptions &options = {}) {
  return iteration_of(graph::read_graph(text, "net.graph", graph::operators()), graph::operators(), options);
}

/// A product with a bias, an activation, a sum with what went by, a product, and a loss.
constexpr const char *kResidual = R"(graph "residual"
let batch = 4
input x fp32 [batch, 8]
input labels int32 [batch]
parameter w [8, 8] init "xavier"
parameter b [8] init "zeros"
parameter v [8, 3] init "xavier"
p = Gemm(x, w)
z = Bias(p, b)
y = Relu(z)
q = Gemm(y, w)
a = Relu(q)
s = Add(a, y)
logits = Gemm(s, v)
cross_entropy = SoftmaxCrossEntropy(logits, labels)
result logits
loss cross_entropy
)";

std::vector<std::string> layers(const Iteration &it) {
  std::vector<std::string> names;
  for (const Step &step : it.steps)
    names.push_back((step.backward ? "-" : "+") + step.layer);
  return names;
}

const Tensor &touched(const Iteration &it, const Step &step, const std::string &name) {
  for (const Access &access : step.accesses)
    if (it.tensors[access.tensor].name == name) return it.tensors[access.tensor];
  throw std::runtime_error("'" + step.name + "' does not touch '" + name + "'");
}

TEST(MemoryFromGraph, HasAStepForEachLayerForwardsAndBack) {
  const Iteration it = iteration(kResidual);
  // The bias belongs to its product. The weight is used twice: the second part of its gradient is added by a step of
  // its own, when the way back of the first product, which has no gradient of x, is done.
  EXPECT_EQ(layers(it), (std::vector<std::string>{"+Gemm", "+Relu", "+Gemm", "+Relu", "+Add", "+Gemm",
                                                  "+SoftmaxCrossEntropy", "-SoftmaxCrossEntropy", "-Gemm", "-Add",
                                                  "-Relu", "-Gemm", "-Relu", "-Gemm", "-Add"}));
  const Tensor &w = touched(it, it.steps[0], "w");
  EXPECT_EQ(w.bytes, 8U * 8 * 4);
  EXPECT_TRUE(w.weight && w.in_memory && !w.to_memory);
  const Tensor &x = touched(it, it.steps[0], "x");
  EXPECT_EQ(x.bytes, 4U * 8 * 4);
  EXPECT_EQ(x.row_bytes, x.bytes / 4);
  EXPECT_TRUE(x.in_memory && !x.weight);
  EXPECT_NO_THROW(touched(it, it.steps[13], "x")); // again for the gradient of w
  EXPECT_EQ(it.steps[0].operations, 4 * 8 * 8 + 4 * 8);
  EXPECT_TRUE(it.steps[0].product);
  EXPECT_FALSE(it.steps[1].product);
}

TEST(MemoryFromGraph, CountsInOtherElementsAndReadings) {
  IterationOptions options;
  options.element_bytes = 2;
  const Iteration half = iteration(kResidual, options);
  EXPECT_EQ(touched(half, half.steps[0], "w").bytes, 8U * 8 * 2);
  options.separate_layers = false;
  const Iteration project = iteration(kResidual, options);
  EXPECT_LT(project.steps.size(), half.steps.size());             // sums are no steps
  EXPECT_EQ(project.operations(), half.operations() - 2 * 4 * 8); // nor is a copy for each of what a sum adds
  options.forward_only = true;
  const Iteration forward = iteration(kResidual, options);
  EXPECT_EQ(forward.steps.size(), 7U);
  EXPECT_TRUE(std::none_of(forward.steps.begin(), forward.steps.end(), [](const Step &s) { return s.backward; }));
}

TEST(MemoryFromGraph, NamesANetworkWithoutLossOrGradient) {
  std::string without(kResidual);
  without.resize(without.find("loss "));
  try {
    iteration(without);
    FAIL() << "there is no loss";
  } catch (const std::exception &error) {
    EXPECT_NE(std::string(error.what()).find("loss"), std::string::npos) << error.what();
  }
}

/// Multiply-adds of an image forwards, as published (torchvision; ResNet-50 with strides in its first convolutions, as
/// in the paper and Keras), and three times as many with the way back.
TEST(MemoryFromGraph, HasThePublishedOperations) {
  for (const auto &[model, published] :
       {std::pair{"resnet50", 3.86e9}, {"mobilenet_v2", 0.30e9}, {"inception_v3", 5.71e9}, {"resnext50", 4.23e9}}) {
    const graph::Graph graph =
        compiler::load_graph(std::filesystem::path(GW_SOURCE_DIR) / "models" / (std::string(model) + ".graph"),
                             compiler::NetworkSettings(2));
    const Iteration it = iteration_of(graph, graph::operators());
    double forward = 0, back = 0;
    for (const Step &step : it.steps)
      if (step.product) (step.backward ? back : forward) += step.operations / 2;
    EXPECT_NEAR(forward / published, 1, 0.02) << model;
    EXPECT_NEAR(back / forward, 2, 0.05) << model; // the first layer gives no gradient of the images
  }
}

} // namespace
} // namespace gradweave::memory_model
