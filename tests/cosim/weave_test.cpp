// Networks woven on the RTL: all bits, and the cycles that the timing model predicted; with a bus that stalls, all
// bits.
#include "tests/runtime/random_job_set.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>

namespace gradweave::runtime {
namespace {

using Case = std::tuple<const char *, std::uint64_t>;

class WovenJobsOnRtl : public ::testing::TestWithParam<Case> {};

TEST_P(WovenJobsOnRtl, HaveGoldenBitsAndPredictedCycles) {
  const auto &[npu, first] = GetParam();
  for (std::uint64_t seed = first; seed < first + 10; ++seed) {
    WovenRequest request = random_job_set(npu, seed);
    request.backend = Backend::kRtl;
    request.device.stress = {seed, seed % 4 == 0 ? 0.3 : 0};
    const WovenRun run = run_woven(request);
    EXPECT_EQ(run.result.outcome, Outcome::kPass)
        << describe(request) << ": " << fmt::format("{}", fmt::join(run.result.failures, "; "));
    for (const WovenJob &job : run.jobs)
      EXPECT_GT(job.elements, 0U) << describe(request) << ", " << job.name;
  }
}

class VectorJobsOnRtl : public ::testing::TestWithParam<Case> {};

TEST_P(VectorJobsOnRtl, HaveGoldenBitsAndPredictedCycles) {
  const auto &[npu, first] = GetParam();
  for (std::uint64_t seed = first; seed < first + 8; ++seed) {
    WovenRequest request = random_vector_job_set(npu, seed);
    request.backend = Backend::kRtl;
    request.device.stress = {seed, seed % 4 == 0 ? 0.3 : 0};
    const WovenRun run = run_woven(request);
    EXPECT_EQ(run.result.outcome, Outcome::kPass)
        << describe(request) << ": " << fmt::format("{}", fmt::join(run.result.failures, "; "));
  }
}

auto sets(std::uint64_t first, std::uint64_t second) {
  return ::testing::Combine(::testing::Values("test8", "test6x10", "test13x7", "test4x8", "test5x2"),
                            ::testing::Values(first, second));
}
std::string name_of(const ::testing::TestParamInfo<Case> &info) {
  return fmt::format("{}_{}", std::get<0>(info.param), std::get<1>(info.param));
}
INSTANTIATE_TEST_SUITE_P(Cosim, WovenJobsOnRtl, sets(1000, 2000), name_of);
INSTANTIATE_TEST_SUITE_P(CosimLong, WovenJobsOnRtl, sets(3000, 4000), name_of); // the label long, CMakeLists.txt

auto vector_sets(std::uint64_t first, std::uint64_t second) {
  return ::testing::Combine(::testing::Values("test8v2", "test6x10v1"), ::testing::Values(first, second));
}
INSTANTIATE_TEST_SUITE_P(Cosim, VectorJobsOnRtl, vector_sets(1000, 2000), name_of);
INSTANTIATE_TEST_SUITE_P(CosimLong, VectorJobsOnRtl, vector_sets(3000, 4000), name_of);

} // namespace
} // namespace gradweave::runtime
