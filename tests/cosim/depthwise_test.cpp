// Depthwise convolutions on the RTL's vector units: bits of the direct convolution, cycles and counters of the timing
// model.
#include "compiler/depthwise/weights/weight_layout.hpp"
#include "tests/compiler/depthwise/depthwise_run.hpp"
#include "tests/cosim/section_on_rtl.hpp"

namespace gradweave::compiler {
namespace {

class DepthwiseOnRtl : public testing::TestWithParam<const char *> {};

TEST_P(DepthwiseOnRtl, RandomOnes) {
  const Machine npu = vector_machine(GetParam());
  std::size_t compared = 0;
  for (std::uint64_t seed = 1001; seed <= 1020; ++seed) {
    Dice dice(seed);
    const Convolution conv = random_depthwise(dice);
    for (const DepthwiseProduct product : kDepthwiseProducts) {
      const DepthwiseWork work{product, conv, false};
      if (!has_depthwise_pieces(work, npu)) continue;
      ++compared;
      ASSERT_EQ(depthwise_difference(npu, work, dice, run_rtl), "")
          << "seed " << seed << ", product " << static_cast<int>(product) << ": " << conv;
    }
  }
  EXPECT_GT(compared, 40U);
}

TEST_P(DepthwiseOnRtl, WeightGradientsOfTapsSideBySide) {
  const Machine npu = vector_machine(GetParam());
  std::size_t compared = 0;
  for (std::uint64_t seed = 1101; compared < 24 && seed <= 3000; ++seed) {
    Dice dice(seed);
    DepthwiseWork work{DepthwiseProduct::kDW, random_depthwise(dice), false};
    Convolution &conv = work.conv;
    conv.groups = conv.channels = conv.out_channels = dice.between(1, npu.rows / 2);
    const auto layout = depthwise::choose_weight_layout(work, npu);
    if (!layout || layout->side == 1) continue;
    ++compared;
    ASSERT_EQ(depthwise_difference(npu, work, dice, run_rtl), "") << "seed " << seed << ": " << conv;
  }
  EXPECT_EQ(compared, 24U);
}

INSTANTIATE_TEST_SUITE_P(Npus, DepthwiseOnRtl, testing::Values("test8v2", "test6x10v1", "test8c2v8"));

} // namespace
} // namespace gradweave::compiler
