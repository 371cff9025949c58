// Layers that read images, on the RTL: all bits, and the cycles that the timing model predicted; with a bus that
// stalls, all bits.
#include "tests/runtime/random_image_job.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace gradweave::runtime {
namespace {

using Case = std::tuple<const char *, std::uint64_t>;

class ImageLayersOnRtl : public ::testing::TestWithParam<Case> {};

TEST_P(ImageLayersOnRtl, GiveTheBitsOfDirectConvolution) {
  const auto &[npu, first] = GetParam();
  for (std::uint64_t seed = first; seed < first + 10; ++seed) {
    JobSpec s = random_image_job(npu, seed, seed % 2 == 1);
    s.device.stress = {seed, seed % 3 == 0 ? 0.3 : 0};
    const JobResult r = run_job(s);
    EXPECT_EQ(r.outcome, Outcome::kPass) << describe(s) << ": " << fmt::format("{}", fmt::join(r.failures, "; "));
  }
}

/// Steps of several, woven.
TEST(ImageChainsOnRtl, GiveTheBitsOfDirectConvolution) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    JobSpec s = random_image_chain(seed % 2 == 0 ? "test8" : "test6x10", 200 + seed, seed % 4 < 2);
    s.compile.schedule = compiler::Schedule::kSearch;
    s.compile.plans = 30;
    s.device.stress = {seed, seed % 3 == 0 ? 0.3 : 0};
    const JobResult r = run_job(s);
    EXPECT_EQ(r.outcome, Outcome::kPass) << "seed " << seed << fmt::format(": {}", fmt::join(r.failures, "; "));
  }
}

INSTANTIATE_TEST_SUITE_P(Cosim, ImageLayersOnRtl,
                         ::testing::Combine(::testing::Values("test8", "test6x10", "test13x7", "test8c2", "test8c4"),
                                            ::testing::Values(1000U, 2000U)),
                         [](const ::testing::TestParamInfo<Case> &info) {
                           return fmt::format("{}_{}", std::get<0>(info.param), std::get<1>(info.param));
                         });

} // namespace
} // namespace gradweave::runtime
