// Whole steps of training on the RTL, products on the array and operators on the vector unit: every tensor as the
// golden execution has it, every cycle as the timing model has it.
#include "tests/train/convolution_networks.hpp"
#include "tests/train/npu/npu_steps.hpp"
#include "tests/train/npu/strided_network.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gradweave::runtime::train {
namespace {

/// Steps of a network on random data.
void expect_golden(const graph::Graph &forward, const graph::TrainingOptions &options, const std::string &npu,
                   int count) {
  NpuSteps steps(forward, options, make_rtl_device(npu_of(npu)), Backend::kRtl);
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(steps.next(), "") << "step " << i;
    EXPECT_GT(steps.last.products.cycles, 0U);
    EXPECT_EQ(steps.last.unchecked, 0U);
    EXPECT_EQ(steps.last.shares.host_ops, 0U);
  }
}

graph::TrainingOptions sgd() {
  graph::TrainingOptions options;
  options.optimizer = graph::OptimizerKind::kSgd;
  options.momentum = 0.9;
  return options;
}

TEST(NpuStepOnTheRtl, PerceptronsAreGolden) {
  for (const char *npu : {"test8v2", "test6x10v1", "test8c2v8"}) {
    expect_golden(perceptron(6, {20, 13, 9, 5}), {}, npu, 3);
    expect_golden(perceptron(6, {20, 13, 9, 5}), sgd(), npu, 3);
  }
}

TEST(NpuStepOnTheRtl, DropoutIsGolden) {
  for (const char *npu : {"test8v2", "test6x10v1", "test8c2v8"}) {
    expect_golden(perceptron(6, {20, 13, 9, 5}, 0.4), {}, npu, 3);
    expect_golden(perceptron(1, {20, 70, 1, 5}, 0.25), sgd(), npu, 2);
  }
}

TEST(NpuStepOnTheRtl, LeNetIsGolden) {
  expect_golden(compiler::load_graph("models/lenet.graph", 2), {}, "test8v2", 2);
  expect_golden(compiler::load_graph("models/lenet.graph", 2), sgd(), "test8v2", 2);
}

/// Each step on a device of its own, in a thread of its own.
TEST(NpuStepOnTheRtl, StepsSideBySideAreGolden) {
  constexpr int kSteps = 5, kLanes = 3;
  NpuSteps serial(perceptron(6, {20, 13, 9, 5}), {}, make_rtl_device(npu_of("test8v2")), Backend::kRtl);
  NpuSteps steps(perceptron(6, {20, 13, 9, 5}), {}, make_rtl_device(npu_of("test8v2")), Backend::kRtl);
  Lanes lanes(steps.step, steps.executor, kLanes, 1, [] { return make_rtl_device(npu_of("test8v2")); });
  for (int i = 0; i < kSteps; ++i) {
    ASSERT_EQ(serial.next(), "") << "step " << i;
    const StepResult result = steps.trainer.compared_step(lanes, kSteps, {});
    ASSERT_TRUE(result.ok()) << "step " << i;
    EXPECT_EQ(result.losses, serial.last.losses);
    EXPECT_EQ(result.products.cycles, serial.last.products.cycles);
    EXPECT_EQ(result.elements, serial.last.elements);
  }
  EXPECT_EQ(steps.trainer.living(), serial.trainer.living());
}

/// Depthwise convolutions are the vector unit's.
TEST(NpuStepOnTheRtl, DepthwiseConvolutionsAreGolden) {
  for (const std::uint32_t stride : {1U, 2U}) {
    Dice dice(stride);
    Convolution conv = small_image_convolution(9, 11, 11);
    conv.groups = 11;
    conv.batch = 2;
    conv.stride_height = conv.stride_width = stride;
    const graph::Graph network = around(conv, dice);
    for (const char *npu : {"test8v2", "test6x10v1", "test8c2v8"})
      expect_golden(network, sgd(), npu, 2);
  }
}

/// Samples of images, kernels by rows, pooling by areas of its own, operators that wait for their reader.
TEST(NpuStepOnTheRtl, StridedNetworksAreGolden) {
  graph::TrainingOptions options = sgd();
  options.read_samples = true;
  for (const char *npu : {"test8v2", "test6x10v1", "test8c2v8"})
    expect_golden(small_residual(2, 16, 4), options, npu, 2);
}

TEST(NpuStepOnTheRtl, AttentionIsGolden) {
  graph::TrainingOptions sparse;
  sparse.sparse_embeddings = true;
  expect_golden(small_bert(), sparse, "test8v2", 2);
  expect_golden(small_bert(), sgd(), "test8v2", 2);
}

/// Heads go through the scratchpad one after the other, or several at once.
TEST(NpuStepOnTheRtl, HeadsOfAttentionAreGolden) {
  for (const char *npu : {"test8v2", "test6x10v1", "test8c2v8"}) {
    expect_golden(small_bert(), {}, npu, 1);
    expect_golden(small_gpt(), {}, npu, 1);
  }
}

} // namespace
} // namespace gradweave::runtime::train
