// Steps of a network with strides: samples of images, kernels by rows, poolings, operators that run with their first
// reader.
#include "tests/train/npu/npu_steps.hpp"
#include "tests/train/npu/strided_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave::runtime::train {
namespace {

graph::TrainingOptions sampled() {
  graph::TrainingOptions options;
  options.optimizer = graph::OptimizerKind::kSgd;
  options.momentum = 0.9;
  options.read_samples = true;
  return options;
}

std::size_t sections_called(const StepStream &stream, const std::string &what) {
  return static_cast<std::size_t>(std::count_if(stream.sections.begin(), stream.sections.end(),
                                                [&](const StepSection &s) { return s.what == what; }));
}

TEST(StridedStep, IsGolden) {
  for (const char *npu : {"test8v2", "test6x10v1", "test8c2v8", "small"}) {
    NpuSteps steps(small_residual(2, 16, 4), sampled(), make_functional_device(npu_of(npu)), Backend::kFunctional);
    ASSERT_EQ(steps.next(), "") << npu;
    ASSERT_EQ(steps.next(), "") << npu;
    EXPECT_EQ(steps.last.unchecked, 0U);
    EXPECT_GT(sections_called(steps.executor.stream(), "ConvWeightGradient staging"), 0U) << npu;
    for (const StepSection &section : steps.executor.stream().sections)
      EXPECT_EQ(section.what.find("ConvInputGradient staging"), std::string::npos) << npu;
  }
}

/// Walks over one channel's taps by rows of the kernel are fewer than by taps, and pooling is a section of its own
/// where that is faster.
TEST(StridedStep, TakesKernelRowsAndPoolingSections) {
  NpuSteps steps(small_residual(2, 64, 16), sampled(), make_functional_device(npu_of("small")), Backend::kFunctional);
  ASSERT_EQ(steps.next(), "");
  EXPECT_GT(sections_called(steps.executor.stream(), "ConvWeightGradient staging"), 0U);
  EXPECT_EQ(sections_called(steps.executor.stream(), "MaxPool"), 1U);
  EXPECT_EQ(sections_called(steps.executor.stream(), "MaxPoolGradient"), 1U);
}

/// The first of two normalisations that are added runs with the second, so that no fp32 image is in memory.
TEST(StridedStep, SumsOfNormalisationsStayInTheScratchpad) {
  NpuSteps steps(small_residual(2, 16, 4), sampled(), make_functional_device(npu_of("small")), Backend::kFunctional);
  ASSERT_EQ(steps.next(), "");
  const graph::Graph &graph = steps.step.graph;
  for (const char *name : {"wide", "shortcut", "sum"}) {
    const graph::TensorId id = graph.find(name);
    ASSERT_NE(id, graph::kNone) << name;
    EXPECT_EQ(steps.executor.planned().memory().places[id].owner, graph::kNone) << name;
  }
}

} // namespace
} // namespace gradweave::runtime::train
