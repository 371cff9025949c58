// What streams access: counted from their commands, and by the engines of the timing model, on everything that the gate
// between RTL and model draws.
#include "app/validate/corpus/profile.hpp"
#include "app/validate/corpus/random_stream.hpp"
#include "compiler/cost/access_count.hpp"
#include "runtime/data/check.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gradweave {

/// For messages of tests.
void PrintTo(const AccessCounts &counts, std::ostream *out) {
  for (const AccessCountForm &form : access_count_forms())
    *out << form.name << ' ' << counts.*form.count << ' ';
}

namespace test {
namespace {

class RandomStreamAccesses : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = load_machine(std::string("configs/") + GetParam() + ".toml");
};

TEST_P(RandomStreamAccesses, AreThoseOfTheTimingModelAndItsCounters) {
  AccessCounts all;
  for (const corpus::Profile profile : {corpus::Profile::kData, corpus::Profile::kTiming})
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      const corpus::DrawnStream stream = corpus::make_stream(npu_, profile, seed, 40);
      timing::RunOptions options;
      options.stream_addr = (std::uint64_t{1} << 20U) + corpus::draw_stream_offset(seed);
      const timing::RunResult run = timing::run(npu_, stream.commands, options);
      if (!run.ok()) continue;
      const AccessCounts counts = compiler::count_accesses(stream.commands, npu_, options.stream_addr);
      ASSERT_EQ(counts, run.accesses) << to_string(profile) << " seed " << seed;
      Counters counters(npu_.cores, npu_.vectors());
      counters.values = run.counters;
      const std::vector<std::string> problems = runtime::check_accesses(counts, npu_, counters);
      ASSERT_TRUE(problems.empty()) << problems.front() << ", seed " << seed;
      all += counts;
    }
  for (const AccessCountForm &form : access_count_forms()) {
    const bool of_units = form.name.substr(0, 7) == "vector_";
    EXPECT_EQ(all.*form.count > 0, !of_units || npu_.vectors() != 0) << form.name;
  }
}

TEST_P(RandomStreamAccesses, WithSmallAccessesOfTheDramToo) {
  npu_.memory.access_bytes = 4;
  for (std::uint64_t seed = 500; seed < 550; ++seed) {
    const corpus::DrawnStream stream = corpus::make_stream(npu_, corpus::Profile::kData, seed, 40);
    const timing::RunResult run = timing::run(npu_, stream.commands);
    ASSERT_TRUE(run.ok());
    ASSERT_EQ(compiler::count_accesses(stream.commands, npu_), run.accesses) << "seed " << seed;
  }
}

/// A count that is off by one byte or step is told, whichever the hardware counts.
TEST_P(RandomStreamAccesses, ThatDifferFromTheCountersAreTold) {
  const corpus::DrawnStream stream = corpus::make_stream(npu_, corpus::Profile::kData, 7, 40);
  const timing::RunResult run = timing::run(npu_, stream.commands);
  ASSERT_TRUE(run.ok());
  Counters counters(npu_.cores);
  counters.values = run.counters;
  std::size_t told = 0;
  for (const AccessCountForm &form : access_count_forms()) {
    AccessCounts counts = run.accesses;
    ++(counts.*form.count);
    told += runtime::check_accesses(counts, npu_, counters).size();
  }
  EXPECT_EQ(told, 6U) << "macs, idle_macs, operands, loads, stores, bus";
}

INSTANTIATE_TEST_SUITE_P(Npus, RandomStreamAccesses,
                         testing::Values("test8", "test6x10", "test13x7", "test8c4", "test2x64c8", "test8p2", "test8v2",
                                         "test6x10v1", "test8c2v8"),
                         [](const auto &param_info) { return std::string(param_info.param); });

} // namespace
} // namespace test
} // namespace gradweave
