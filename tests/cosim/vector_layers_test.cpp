// Depthwise layers that are the vector unit's, on the RTL: all bits, and the cycles that the timing model predicted;
// with a bus that stalls, all bits.
#include "tests/runtime/random_image_job.hpp"

#include <gtest/gtest.h>

namespace gradweave::runtime {
namespace {

TEST(VectorLayersOnRtl, GiveTheBitsOfDirectConvolution) {
  const char *npus[] = {"test8v2", "test6x10v1", "test8c2v8"};
  for (std::uint64_t seed = 7501; seed <= 7530; ++seed) {
    JobSpec s = random_vector_job(npus[seed % 3], seed);
    s.device.stress = {seed, seed % 4 == 0 ? 0.3 : 0};
    const JobResult r = run_job(s);
    EXPECT_EQ(r.outcome, Outcome::kPass) << describe(s) << ": " << fmt::format("{}", fmt::join(r.failures, "; "));
  }
}

} // namespace
} // namespace gradweave::runtime
