// Placement against all placements of small iterations, and what machines are refused.
#include "memory_model/placement.hpp"
#include "memory_model/policies.hpp"
#include "tests/memory_model/random_iteration.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave::memory_model {
namespace {

constexpr std::size_t kMostGaps = 14;

/// The least traffic of all placements of whole tensors.
std::uint64_t best_whole(const Iteration &iteration, const Uses &uses, const std::vector<Gap> &gaps,
                         std::uint64_t capacity) {
  std::uint64_t least = UINT64_MAX;
  const Machine machine{capacity, 1, 1};
  for (std::uint32_t choice = 0; choice < 1U << gaps.size(); ++choice) {
    Plan plan{std::vector<std::uint64_t>(uses.accesses())};
    for (std::size_t g = 0; g < gaps.size(); ++g)
      if ((choice >> g & 1U) != 0) plan.kept[gaps[g].access] = gaps[g].bytes;
    const std::vector<std::uint64_t> held = occupied(uses, gaps, plan);
    if (*std::max_element(held.begin(), held.end()) > capacity) continue;
    least = std::min(least, estimate_plan(iteration, uses, gaps, plan, machine).traffic());
  }
  return least;
}

/// The bound holds of each, and rows are nearly always better than the best of whole tensors.
TEST(MemoryPlacement, IsAtMostTheBestOfWholeTensors) {
  constexpr unsigned kSeed = 99;
  std::mt19937 random(kSeed);
  double rows_bytes = 0, whole_bytes = 0;
  int tried = 0;
  while (tried < 60) {
    const Iteration iteration = test::random_iteration(random, 3 + static_cast<std::uint32_t>(tried) % 3);
    const Uses uses(iteration);
    Planner planner(iteration, uses);
    if (planner.gaps().size() > kMostGaps) continue;
    ++tried;
    for (const double factor : {1.3, 2.0, 3.5}) {
      const auto capacity = static_cast<std::uint64_t>(factor * static_cast<double>(least_capacity(iteration)));
      const std::uint64_t whole = best_whole(iteration, uses, planner.gaps(), capacity);
      ASSERT_LE(planner.least_traffic(capacity), whole) << "seed " << kSeed << " case " << tried;
      const Plan plan = planner.rows(capacity);
      const Estimate rows = estimate_plan(iteration, uses, planner.gaps(), plan, {capacity, 1, 1});
      ASSERT_LE(planner.least_traffic(capacity), rows.traffic());
      rows_bytes += static_cast<double>(rows.traffic());
      whole_bytes += static_cast<double>(whole);
    }
  }
  EXPECT_LE(rows_bytes, whole_bytes);
}

TEST(MemoryPlacement, RefusesMachines) {
  std::mt19937 random(1);
  const Iteration iteration = test::random_iteration(random, 8);
  const std::uint64_t least = least_capacity(iteration);
  const auto message = [&](const Machine &machine) -> std::string {
    try {
      estimate(Policy::kThesis, iteration, machine);
    } catch (const std::invalid_argument &error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(message({least, 1, 1}), "");
  EXPECT_NE(message({0, 1, 1}).find("capacity 0"), std::string::npos);
  EXPECT_NE(message({least - 1, 1, 1}).find("needs"), std::string::npos);
  EXPECT_NE(message({least, 0, 1}).find("bandwidth 0"), std::string::npos);
  EXPECT_NE(message({least, -1, 1}).find("bandwidth"), std::string::npos);
  EXPECT_NE(message({least, 1, 0}).find("throughput"), std::string::npos);
  EXPECT_THROW(estimate(Policy::kRows, iteration, Sweep{{2 * least, least}, 1, 1}), std::invalid_argument);
  EXPECT_THROW(parse_policy("best"), std::invalid_argument);
  EXPECT_EQ(parse_policy("rows"), Policy::kRows);
}

} // namespace
} // namespace gradweave::memory_model
