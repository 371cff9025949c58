// Products that read one row of an image each, and images that share a place, on the RTL: every bit of the golden
// products, whatever the bus does, and the counters of the timing model.
#include "compiler/spm/residency.hpp"
#include "tests/compiler/bottleneck.hpp"
#include "tests/compiler/step_run.hpp"
#include "tests/cosim/section_on_rtl.hpp"

#include <fmt/format.h>

namespace gradweave::compiler {
namespace {

class ImageRowsOnRtl : public testing::TestWithParam<const char *> {};

TEST_P(ImageRowsOnRtl, AreGolden) {
  std::uint32_t rows = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Bottleneck net = random_bottleneck(GetParam(), seed);
    if (!allocate(net.plans, net.layers, net.layout(), net.npu)) continue;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    for (const TileProduct &p : net.plans[1].products)
      rows += reads_one_row(net.layers[1], p) ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(expect_golden(net.compile(), net.npu, seed, run_rtl));
  }
  EXPECT_GT(rows, 200U);
}

/// And images that lie in one place by turns.
TEST_P(ImageRowsOnRtl, ImagesByTurnsAreGolden) {
  std::uint32_t shared = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Images net = random_images(GetParam(), seed);
    if (net.most_tenants() == 1 || !allocate(net.plans, net.layers, net.layout(), net.npu)) continue;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    ++shared;
    ASSERT_NO_FATAL_FAILURE(expect_golden(net.compile(), net.npu, seed, run_rtl));
  }
  EXPECT_GT(shared, 1U);
}

INSTANTIATE_TEST_SUITE_P(Npus, ImageRowsOnRtl,
                         testing::Values("test8", "test6x10", "test8p2", "test8c2", "test8c4", "test8v2",
                                         "test6x10v1"));

} // namespace
} // namespace gradweave::compiler
