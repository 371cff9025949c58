// Some ten thousand random convolutions on the RTL: over images and over im2col, on all test NPUs, a third with a bus
// that stalls. All bits, and of the others the cycles that the timing model predicted.
#include "compiler/ir/image.hpp"
#include "tests/runtime/random_image_job.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <tuple>

namespace gradweave::runtime {
namespace {

constexpr std::uint64_t kSeedsOfACase = 75;

using Case = std::tuple<const char *, std::uint64_t>;

class ManyConvolutionsOnRtl : public ::testing::TestWithParam<Case> {};

/// The first case's first one; the environment variable GW_SEED is another.
std::uint64_t first_seed() {
  const char *asked = std::getenv("GW_SEED");
  return asked != nullptr ? std::strtoull(asked, nullptr, 0) : 100'000;
}

/// Up to 7 taps a side; a third are as large as their images, a third have any stride and padding that commands can
/// walk, a quarter of them packed, and a third any at all.
JobSpec random_job(const std::string &npu, std::uint64_t seed) {
  if (seed % 12 == 4 && load_machine("configs/" + npu + ".toml").lanes() >= 4) return random_packed_job(npu, seed);
  Dice dice(seed);
  const Convolution conv = seed % 3 == 0   ? random_image_convolution(dice, 7)
                           : seed % 3 == 1 ? random_strided_convolution(dice, 7)
                                           : random_convolution(dice, 7);
  return random_convolution_job(npu, seed, dice, conv, compiler::can_read_image(conv));
}

TEST_P(ManyConvolutionsOnRtl, GiveTheBitsOfDirectConvolution) {
  const auto &[npu, number] = GetParam();
  const std::uint64_t first = first_seed() + number * kSeedsOfACase, end = first + kSeedsOfACase;
  fmt::print("seeds {} to {} (GW_SEED, or 100000, is the first of all cases)\n", first, end - 1);
  std::uint64_t run = 0;
  for (std::uint64_t seed = first; seed < end; ++seed) {
    JobSpec s = random_job(npu, seed);
    s.device.stress = {seed, seed / 3 % 3 == 0 ? 0.3 : 0};
    const JobResult r = run_job(s);
    const std::string failures = fmt::format("{}", fmt::join(r.failures, "; "));
    // The smallest scratchpads do not hold every row of pixels, nor every layer a part for each core.
    if (r.outcome == Outcome::kBadInput &&
        (failures.find("no tiling fits") != std::string::npos || failures.find("has no") != std::string::npos))
      continue;
    EXPECT_EQ(r.outcome, Outcome::kPass) << describe(s) << ": " << failures;
    ++run;
  }
  RecordProperty("streams", fmt::format("{}", run));
  EXPECT_GT(run, kSeedsOfACase / 2) << "most of the layers do not fit";
}

INSTANTIATE_TEST_SUITE_P(Cosim, ManyConvolutionsOnRtl,
                         ::testing::Combine(::testing::Values("test8", "test6x10", "test13x7", "test16", "test5x2",
                                                              "test4x8", "test8x3", "test2x2", "test8c2", "test8c4",
                                                              "test8c8", "test6x10c3", "test2x64c8", "test8p2"),
                                            ::testing::Range<std::uint64_t>(0, 10)),
                         [](const ::testing::TestParamInfo<Case> &info) {
                           return fmt::format("{}_{}", std::get<0>(info.param), std::get<1>(info.param));
                         });

} // namespace
} // namespace gradweave::runtime
