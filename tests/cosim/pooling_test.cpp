// Pooling by areas of its own on the RTL's vector units: golden execution's bits, counters of the timing model.
#include "tests/compiler/pooling/pooling_run.hpp"
#include "tests/cosim/section_on_rtl.hpp"

namespace gradweave::compiler {
namespace {

class PoolingOnRtl : public testing::TestWithParam<const char *> {};

TEST_P(PoolingOnRtl, RandomOnes) {
  const Machine npu = vector_machine(GetParam());
  std::size_t compared = 0;
  for (std::uint64_t seed = 1001; seed <= 1012; ++seed) {
    Dice dice(seed);
    const PoolingGraph pooling = random_pooling(dice, npu.lanes() + 3);
    for (const std::size_t which : {0, 1}) {
      const std::string found = pooling_difference(npu, pooling, which, dice, run_rtl);
      if (found == "it has none") continue;
      ++compared;
      ASSERT_EQ(found, "") << "seed " << seed << ", op " << which;
    }
  }
  EXPECT_GT(compared, 12U);
}

INSTANTIATE_TEST_SUITE_P(Npus, PoolingOnRtl, testing::Values("test8v2", "test6x10v1", "test8c2v8"));

} // namespace
} // namespace gradweave::compiler
