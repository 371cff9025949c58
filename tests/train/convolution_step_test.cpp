// Convolutions in a step of training, over images and over im2col: every tensor as the golden execution has it (N24),
// whatever is chosen.
#include "tests/train/convolution_networks.hpp"
#include "tests/train/networks.hpp"

#include "device/device.hpp"

#include <gtest/gtest.h>

namespace gradweave::runtime::train {
namespace {

ProductOptions options_of(Dice &dice, bool images) {
  const compiler::Schedule schedules[] = {compiler::Schedule::kRearrange, compiler::Schedule::kSequential,
                                          compiler::Schedule::kSearch, compiler::Schedule("in_order")};
  ProductOptions options;
  options.compile.schedule = schedules[dice.below(4)];
  options.compile.plans = 10;
  options.plan.images = images ? ReadImages::kWhereWorth : ReadImages::kNever;
  return options;
}

class ConvolutionSteps : public testing::TestWithParam<const char *> {};

TEST_P(ConvolutionSteps, GiveTheGoldenBits) {
  std::size_t over_images = 0, over_im2col = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Dice dice(seed);
    const Convolution conv = seed % 3 == 0   ? random_convolution(dice)
                             : seed % 3 == 1 ? random_image_convolution(dice)
                                             : random_strided_convolution(dice);
    const auto device = make_functional_device(npu_of(GetParam()));
    const ConvolutionStep step = step_around(conv, dice, *device, options_of(dice, seed % 4 != 0));
    EXPECT_EQ(step.problem, "") << "seed " << seed << ": " << conv;
    over_images += step.over_images;
    over_im2col += step.passes - step.over_images;
  }
  EXPECT_GT(over_images, 20U);
  EXPECT_GT(over_im2col, 100U);
}

INSTANTIATE_TEST_SUITE_P(Npus, ConvolutionSteps, testing::Values("test8", "test6x10"),
                         [](const auto &npu) { return std::string(npu.param); });

Convolution strided() {
  Convolution c;
  c.batch = 2, c.height = c.width = 9, c.channels = 6, c.out_channels = 7;
  c.kernel_height = c.kernel_width = 3, c.stride_height = c.stride_width = 2;
  c.pad_top = c.pad_bottom = c.pad_left = c.pad_right = 1;
  return c;
}

ProductPlan plan_of(const Convolution &conv, const std::string &npu, bool images) {
  Dice dice(1);
  const graph::TrainingGraph step = graph::training_graph(around(conv, dice), graph::operators(), {});
  PlanOptions options;
  options.images = images ? ReadImages::kWhereWorth : ReadImages::kNever;
  return plan_products(step.graph, npu_of(npu), options);
}

TEST(ConvolutionPlan, WithoutImagesEachPhaseOfDxIsAProduct) {
  std::vector<std::string> names;
  for (const ProductPass &pass : plan_of(strided(), "test8", false).passes) {
    EXPECT_FALSE(pass.layer.image);
    if (!pass.completes || pass.layer.name.find(".phase") != std::string::npos) names.push_back(pass.layer.name);
  }
  ASSERT_EQ(names.size(), 4U);
  EXPECT_NE(names.front().find(".phase0_0"), std::string::npos);
  EXPECT_NE(names.back().find(".phase1_1"), std::string::npos);
}

TEST(ConvolutionPlan, ImagesAreReadWithoutBlocksOfChannels) {
  Convolution conv = strided();
  conv.stride_height = conv.stride_width = 1;
  std::size_t images = 0;
  for (const ProductPass &pass : plan_of(conv, "small", true).passes)
    if (pass.layer.image) {
      ++images;
      EXPECT_FALSE(pass.layer.channel_blocks);
      EXPECT_TRUE(pass.completes);
    }
  EXPECT_EQ(images, 2U) << "Y, and dX with dW";
}

/// A stride of two: only the pixels of one phase are read, the others have a gradient of +0.
TEST(ConvolutionPlan, PhasesThatNoTapMeetsHaveNoProduct) {
  Convolution conv = strided();
  conv.kernel_height = conv.kernel_width = 1;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 0;
  std::size_t phases = 0;
  for (const ProductPass &pass : plan_of(conv, "test8", true).passes)
    phases += pass.layer.name.find(".phase") != std::string::npos ? 1 : 0;
  EXPECT_EQ(phases, 1U);
}

TEST(ConvolutionPlan, WhatMultipliesNothingIsTheHosts) {
  Convolution conv; // its one tap is at the padding
  conv.height = conv.width = 1, conv.channels = conv.out_channels = 2;
  conv.stride_height = conv.stride_width = 2;
  conv.pad_top = conv.pad_left = 1;
  const ProductPlan plan = plan_of(conv, "test8", true);
  ASSERT_EQ(plan.host.size(), 1U);
  EXPECT_NE(plan.host.front().reason.find("no tap meets a pixel"), std::string::npos);
  Dice dice(3);
  const auto device = make_functional_device(npu_of("test8"));
  EXPECT_EQ(step_around(conv, dice, *device, {}).problem, "");
}

} // namespace
} // namespace gradweave::runtime::train
