// Layers that read images, compiled and run on the functional model: every bit against golden products, and against the
// convolution computed directly.
#include "compiler/ir/image.hpp"
#include "runtime/data/direct_check.hpp"
#include "runtime/data/golden_layer.hpp"
#include "tests/runtime/random_image_job.hpp"
#include "tests/support/cases.hpp"

#include <gtest/gtest.h>

namespace gradweave::runtime {
namespace {

using compiler::Tensor;
using test::cases;

TEST(ImageLayers, GiveTheBitsOfDirectConvolution) {
  const char *npus[] = {"test8", "test6x10", "test13x7", "test5x2", "test8c2", "test8c4", "test6x10c3"};
  for (std::uint64_t seed = 1; seed <= cases(210); ++seed) {
    JobSpec s = random_image_job(npus[seed % 7], seed);
    s.backend = Backend::kFunctional;
    const JobResult r = run_job(s);
    ASSERT_EQ(r.outcome, Outcome::kPass) << describe(s) << ": " << fmt::format("{}", fmt::join(r.failures, "; "));
    for (const OutputCheck &check : r.outputs)
      EXPECT_EQ(check.direct, check.elements) << describe(s);
  }
}

/// Y from images and gradients over im2col: of one layer, and of one of a chain.
TEST(ImageLayers, MayReadTheImageForYAlone) {
  const char *npus[] = {"test8", "test6x10", "test13x7", "test8c2"};
  std::size_t run = 0;
  for (std::uint64_t seed = 9001; seed <= 9000 + cases(40); ++seed) {
    const bool chain = seed % 2 == 0;
    JobSpec s = chain ? random_image_chain(npus[seed / 2 % 4], seed) : random_image_job(npus[seed / 2 % 4], seed, true);
    const std::size_t at = chain ? seed / 2 % 3 : 0;
    const std::vector<compiler::Layer> split = apart(s.layers[at], at > 0 || seed % 3 != 0);
    s.layers[at] = split[0];
    s.layers.insert(s.layers.begin() + static_cast<std::ptrdiff_t>(at) + 1, split[1]);
    s.compile.pass = compiler::Pass::kBoth;
    if (chain) {
      s.compile.schedule = seed % 4 == 0 ? compiler::Schedule::kSearch : compiler::Schedule("in_order");
      s.npu.spm_bytes = 1U << 18U;
    }
    for (const Backend backend : {Backend::kFunctional, Backend::kTiming}) {
      s.backend = backend;
      const JobResult r = run_job(s);
      const std::string failures = fmt::format("{}", fmt::join(r.failures, "; "));
      if (r.outcome == Outcome::kBadInput && failures.find("no tiling fits") != std::string::npos) break;
      ASSERT_EQ(r.outcome, Outcome::kPass) << describe(s) << ": " << failures;
      std::size_t results = 0;
      for (const OutputCheck &check : r.outputs)
        results += check.layer == at || check.layer == at + 1 ? 1 : 0;
      if (!chain && split[1].dx && s.compile.schedule != compiler::Schedule("in_order"))
        EXPECT_NE(r.tilings.front().find("empty"), std::string::npos) << "gradients begin as they were searched";
      if (backend == Backend::kFunctional) EXPECT_GE(results, 1U) << describe(s); // in a chain Y may stay
      ++run;
    }
  }
  EXPECT_GT(run, cases(40)) << "many of the layers do not fit";
}

/// An image that two layers read has the data of the first.
TEST(ImageLayers, ThatShareAnImageGiveTheBitsOfDirectConvolution) {
  std::size_t run = 0;
  for (std::uint64_t seed = 8001; seed <= 8000 + cases(20); ++seed) {
    JobSpec s = random_image_job("test8", seed);
    s.npu.spm_bytes = 1U << 18U;
    s.compile.schedule = compiler::Schedule("in_order");
    s.backend = Backend::kFunctional;
    compiler::Layer twin = s.layers.front();
    twin.name = "twin";
    twin.index = 1;
    twin.x_of = s.layers.front().name;
    s.layers.push_back(twin);
    const JobResult r = run_job(s);
    ASSERT_EQ(r.outcome, Outcome::kPass) << describe(s) << ": " << fmt::format("{}", fmt::join(r.failures, "; "));
    for (const OutputCheck &check : r.outputs) {
      EXPECT_EQ(check.direct, check.elements) << describe(s);
      run += check.layer == 1 ? 1 : 0;
    }
  }
  EXPECT_GT(run, cases(20) / 2);
}

/// Depthwise ones on the vector unit.
TEST(VectorLayers, GiveTheBitsOfDirectConvolution) {
  const char *npus[] = {"test8v2", "test6x10v1", "test8c2v8"};
  for (std::uint64_t seed = 7001; seed <= 7000 + cases(120); ++seed) {
    JobSpec s = random_vector_job(npus[seed % 3], seed);
    for (const Backend backend : {Backend::kFunctional, Backend::kTiming}) {
      s.backend = backend;
      const JobResult r = run_job(s);
      ASSERT_EQ(r.outcome, Outcome::kPass) << describe(s) << ": " << fmt::format("{}", fmt::join(r.failures, "; "));
      for (const OutputCheck &check : r.outputs)
        EXPECT_TRUE(check.direct == check.elements || check.direct == 0) << describe(s);
    }
  }
}

/// Strides, and results of other sizes than the image.
TEST(ImageLayers, OfAnyStrideAndPaddingGiveTheBitsOfDirectConvolution) {
  const char *npus[] = {"test8", "test6x10", "test13x7", "test5x2", "test8c2", "test8c4", "test6x10c3"};
  std::size_t run = 0;
  for (std::uint64_t seed = 5001; seed <= 5000 + cases(210); ++seed) {
    JobSpec s = random_image_job(npus[seed % 7], seed, true);
    s.backend = Backend::kFunctional;
    const JobResult r = run_job(s);
    const std::string failures = fmt::format("{}", fmt::join(r.failures, "; "));
    // The smallest scratchpads do not hold every row of pixels.
    if (r.outcome == Outcome::kBadInput && failures.find("no tiling fits") != std::string::npos) continue;
    ASSERT_EQ(r.outcome, Outcome::kPass) << describe(s) << ": " << failures;
    for (const OutputCheck &check : r.outputs)
      EXPECT_EQ(check.direct, check.elements) << describe(s);
    ++run;
  }
  EXPECT_GT(run, cases(210) * 4 / 5) << "many of the layers do not fit";
}

/// What packs the image and what unpacks it are told apart by the check by direct convolution, which reads it as it is.
TEST(ImageLayers, ThatArePackedGiveTheBitsOfDirectConvolution) {
  const char *npus[] = {"test8", "test6x10", "test13x7", "test5x2", "test8c2", "test8c4", "test6x10c3"};
  std::size_t run = 0, by_dw = 0;
  for (std::uint64_t seed = 9001; seed <= 9000 + cases(210); ++seed) {
    JobSpec s = random_packed_job(npus[seed % 7], seed);
    s.backend = Backend::kFunctional;
    const JobResult r = run_job(s);
    const std::string failures = fmt::format("{}", fmt::join(r.failures, "; "));
    if (r.outcome == Outcome::kBadInput && failures.find("no tiling fits") != std::string::npos) continue;
    ASSERT_EQ(r.outcome, Outcome::kPass) << describe(s) << ": " << failures;
    for (const OutputCheck &check : r.outputs)
      EXPECT_EQ(check.direct, check.elements) << describe(s);
    ++run;
    by_dw += s.compile.pass != compiler::Pass::kForward ? 1 : 0;
  }
  EXPECT_GT(run, cases(210) * 4 / 5) << "many of the layers do not fit";
  EXPECT_GT(by_dw, cases(210) / 3);
}

/// Rounding to bf16 hides most of what another order of a sum makes of it: here Y and dX leave as the sums they are.
TEST(ImageLayers, SumInTheOrderOfTheReductionPlan) {
  std::size_t in_blocks = 0;
  for (std::uint64_t seed = 1; seed <= cases(60); ++seed) {
    JobSpec s = random_image_job(seed % 2 == 0 ? "test8" : "test5x2", 3000 + seed);
    s.layers.front().y_fp32 = s.layers.front().dx_fp32 = true;
    s.backend = Backend::kFunctional;
    const JobResult r = run_job(s);
    ASSERT_EQ(r.outcome, Outcome::kPass) << describe(s) << ": " << fmt::format("{}", fmt::join(r.failures, "; "));
    for (const OutputCheck &check : r.outputs) {
      EXPECT_TRUE(check.block == 0 || s.layers.front().channel_blocks) << describe(s);
      in_blocks += check.block != 0 ? 1 : 0;
    }
  }
  if (cases(60) == 60) // fewer layers may have none
    EXPECT_GT(in_blocks, 5U) << "the plans hardly take channels in blocks";
}

TEST(ImageLayers, LoadEachPixelOnceWhereTheImageFits) {
  const Convolution conv = small_image_convolution(14, 16, 16);
  JobSpec s;
  s.layers = {image_layer(conv)};
  s.npu = load_machine("configs/test8.toml");
  s.npu.spm_bytes = 65536;
  s.backend = Backend::kFunctional;
  s.compile.pass = compiler::Pass::kForward;
  s.compile.schedule = compiler::Schedule("in_order"); // begins with the largest tiles
  const JobResult r = run_job(s);
  EXPECT_EQ(r.outcome, Outcome::kPass) << fmt::format("{}", fmt::join(r.failures, "; "));
  EXPECT_EQ(r.traffic.front()[static_cast<std::size_t>(Tensor::kX)].read_bytes, conv.image_size() * 2);
}

/// The largest image, kernel and moves that commands hold.
TEST(ImageLayers, RunAtTheLimitsOfTheFields) {
  std::vector<Convolution> limits(4, small_image_convolution(3, 2, 3));
  limits[0].width = 2047;
  limits[1].height = 1023;
  limits[2].kernel_height = limits[2].kernel_width = 15;
  limits[2].pad_top = limits[2].pad_bottom = limits[2].pad_left = limits[2].pad_right = 7;
  limits[3].kernel_height = limits[3].kernel_width = 2; // moves of 127 down and right, or up and left for dX
  limits[3].dilation_height = limits[3].dilation_width = 127;
  limits[3].pad_top = limits[3].pad_left = 0;
  limits[3].pad_bottom = limits[3].pad_right = 127;
  limits[3].height = limits[3].width = 130;
  for (const Convolution &conv : limits) {
    JobSpec s;
    s.layers = {image_layer(conv)};
    s.npu = load_machine("configs/test8.toml");
    s.npu.spm_bytes = 1U << 20U;
    s.backend = Backend::kFunctional;
    s.compile.schedule = compiler::Schedule("in_order");
    s.compile.pass = compiler::Pass::kBoth;
    s.data = DataKind::kSpecial;
    EXPECT_TRUE(compiler::can_read_image(conv)) << conv;
    const JobResult r = run_job(s);
    EXPECT_EQ(r.outcome, Outcome::kPass) << conv << ": " << fmt::format("{}", fmt::join(r.failures, "; "));
  }
}

TEST(ImageLayers, ARowThatDoesNotFitIsRefusedByName) {
  JobSpec s;
  Convolution conv = small_image_convolution(3, 2, 3);
  conv.width = 600;
  s.layers = {image_layer(conv)};
  s.npu = load_machine("configs/test8.toml"); // 512 rows
  s.backend = Backend::kFunctional;
  const JobResult r = run_job(s);
  EXPECT_EQ(r.outcome, Outcome::kBadInput);
  ASSERT_FALSE(r.failures.empty());
  EXPECT_NE(r.failures.front().find("not even single rows of its images, of 600 pixels"), std::string::npos)
      << r.failures.front();
}

/// Tiles fit one by one, but no order of them: the message is that of the scratchpad, not of the device's memory.
TEST(ImageLayers, AKernelThatReachesTooFarIsRefusedByName) {
  Convolution conv;
  conv.batch = 3;
  conv.height = 5;
  conv.width = 6;
  conv.channels = 18;
  conv.out_channels = 1;
  conv.kernel_height = 7;
  conv.kernel_width = 3;
  conv.dilation_height = 3;
  conv.dilation_width = 2;
  conv.pad_top = 16;
  conv.pad_bottom = conv.pad_left = conv.pad_right = 2;
  JobSpec s;
  s.layers = {image_layer(conv)};
  s.npu = load_machine("configs/test8p2.toml");
  s.npu.spm_bytes /= 2;
  s.backend = Backend::kFunctional;
  s.compile.schedule = compiler::Schedule::kSearch;
  s.compile.plans = 10;
  const JobResult r = run_job(s);
  EXPECT_EQ(r.outcome, Outcome::kBadInput);
  ASSERT_FALSE(r.failures.empty());
  EXPECT_NE(r.failures.front().find("no tiling fits the scratchpad"), std::string::npos) << r.failures.front();
}

TEST(ImageLayers, FollowOneAnotherWithoutGoingThroughMemory) {
  for (std::uint64_t seed = 1; seed <= cases(40); ++seed) {
    JobSpec s = random_image_chain("test8", seed);
    s.npu.spm_bytes = 1U << 18U;
    s.compile.schedule = compiler::Schedule("in_order");
    s.compile.pass = compiler::Pass::kBoth;
    s.backend = Backend::kFunctional;
    const JobResult r = run_job(s);
    ASSERT_EQ(r.outcome, Outcome::kPass) << "seed " << seed << fmt::format(": {}", fmt::join(r.failures, "; "));
    for (const std::size_t layer : {0, 1}) { // whole images fit: their tiles stay for the layer behind
      const compiler::Traffic &y = r.traffic[layer][static_cast<std::size_t>(Tensor::kY)];
      EXPECT_EQ(y.read_bytes + y.write_bytes, 0U) << "seed " << seed << " layer " << layer;
    }
  }
}

TEST(ImageLayers, AreWovenInStepsWithTheSameBits) {
  for (std::uint64_t seed = 1; seed <= cases(40); ++seed) {
    JobSpec s = random_image_chain(seed % 2 == 0 ? "test8" : "test6x10", 100 + seed);
    s.compile.schedule = compiler::Schedule::kSearch;
    s.compile.plans = 30;
    s.backend = Backend::kFunctional;
    const JobResult r = run_job(s);
    EXPECT_EQ(r.outcome, Outcome::kPass) << "seed " << seed << fmt::format(": {}", fmt::join(r.failures, "; "));
  }
}

/// Y of a layer lies as the next one's image wants it, or goes through memory.
TEST(ImageLayers, OfAnyStrideFollowOneAnotherInSteps) {
  for (std::uint64_t seed = 1; seed <= cases(60); ++seed) {
    JobSpec s = random_image_chain(seed % 2 == 0 ? "test8" : "test6x10", 500 + seed, true);
    s.npu.spm_bytes = 1U << 16U;
    s.compile.schedule = seed % 3 == 0 ? compiler::Schedule("in_order") : compiler::Schedule::kSearch;
    s.compile.pass = compiler::Pass::kBoth;
    s.compile.plans = 20;
    s.backend = Backend::kFunctional;
    const JobResult r = run_job(s);
    EXPECT_EQ(r.outcome, Outcome::kPass) << "seed " << seed << fmt::format(": {}", fmt::join(r.failures, "; "));
  }
}

TEST(ImageLayers, AWrongElementOfTheGradientIsFound) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Dice dice(seed);
    const compiler::Layer layer =
        image_layer(seed % 2 == 0 ? random_image_convolution(dice) : random_strided_convolution(dice));
    TensorSet inputs;
    for (const Tensor tensor : {Tensor::kX, Tensor::kW, Tensor::kDY})
      inputs.push_back(make_input(tensor, layer, "net", DataKind::kNormal, seed));
    HostTensor dx = golden_image_result(Tensor::kDX, layer, inputs);
    EXPECT_EQ(compare_direct(dx, layer, inputs.front(), inputs, {}).mismatches, 0U) << "seed " << seed;
    dx.half[dice.below(dx.size())] ^= 1;
    EXPECT_EQ(compare_direct(dx, layer, inputs.front(), inputs, {}).mismatches, 1U) << "seed " << seed;
  }
}

} // namespace
} // namespace gradweave::runtime
