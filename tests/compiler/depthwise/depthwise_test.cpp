// Depthwise convolutions on the vector unit: bits of the direct convolution, no hazard, and what they move.
#include "tests/compiler/depthwise/depthwise_run.hpp"

#include "compiler/depthwise/axis.hpp"

namespace gradweave::compiler {
namespace {

class Depthwise : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = vector_machine(GetParam());
};

TEST_P(Depthwise, RandomOnesGiveTheBitsOfTheDirectConvolution) {
  std::size_t compared = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    const Convolution conv = random_depthwise(dice);
    for (const DepthwiseProduct product : kDepthwiseProducts) {
      const DepthwiseWork work{product, conv, false};
      if (!depthwise_areas(work, npu_)) {
        ++refused;
        continue;
      }
      ++compared;
      ASSERT_EQ(depthwise_difference(npu_, work, dice), "")
          << "seed " << seed << ", product " << static_cast<int>(product) << ": " << conv;
    }
  }
  EXPECT_GT(compared, 8 * refused);
}

INSTANTIATE_TEST_SUITE_P(Npus, Depthwise, testing::Values("test8v2", "test6x10v1", "test8c2v8", "small"));

} // namespace
} // namespace gradweave::compiler
