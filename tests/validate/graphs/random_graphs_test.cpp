// The gate: random training graphs on the functional NPU, every tensor as the golden execution has it.
#include "app/validate/graphs/run_case.hpp"

#include "graph/text/print.hpp"

#include <gtest/gtest.h>

namespace gradweave::graphs {
namespace {

/// Each a test of some seconds; `gradweave validate --graphs 1 --seed N` shrinks what fails.
class RandomGraphs : public testing::TestWithParam<std::uint64_t> {};
constexpr std::uint64_t kSeedsOfTest = 50;

TEST_P(RandomGraphs, AreGolden) {
  for (std::uint64_t seed = GetParam(); seed < GetParam() + kSeedsOfTest; ++seed) {
    const GraphCase one = draw_case(seed, {});
    const Verdict verdict = run_case(one);
    ASSERT_FALSE(is_failure(verdict.outcome))
        << "seed " << seed << ": " << to_string(verdict.outcome) << ": " << verdict.message << "\n"
        << command_of(one, "FILE.graph") << "\n"
        << graph::print_graph(one.network);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, testing::Range<std::uint64_t>(1, 501, kSeedsOfTest));

} // namespace
} // namespace gradweave::graphs
