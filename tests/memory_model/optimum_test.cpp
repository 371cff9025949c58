// Placement against optima that a solver finds.
#include "graph/frontend/load_network.hpp"
#include "graph/operators/table.hpp"
#include "memory_model/iteration/from_graph.hpp"
#include "memory_model/placement.hpp"
#include "memory_model/policies.hpp"
#include "tests/memory_model/exact.hpp"
#include "tests/memory_model/random_iteration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace gradweave::memory_model {
namespace {

using test::least_traffic;
using test::Placed;

constexpr unsigned kOptimumSeed = 4242;
constexpr double kBytes = 1; ///< for what the solver rounds

struct Compared {
  double rows = 0, optimum = 0, bound = 0, worst = 0; ///< bytes; the worst case's share above its optimum
};

Compared compare(std::uint32_t layers, int cases) {
  Compared sums;
  std::mt19937 random(kOptimumSeed);
  for (int round = 0; round < cases; ++round) {
    const Iteration iteration = test::random_iteration(random, layers);
    const Uses uses(iteration);
    Planner planner(iteration, uses);
    for (const double factor : {1.3, 2.0, 3.5}) {
      const auto capacity = static_cast<std::uint64_t>(factor * static_cast<double>(uses.largest_window()));
      const Moved bytes = moved(iteration, uses, planner.rows(capacity));
      const double optimum = least_traffic(iteration, uses, capacity, Placed::kRows);
      const auto rows = static_cast<double>(bytes.in + bytes.out),
                 bound = static_cast<double>(planner.least_traffic(capacity));
      EXPECT_GE(rows, optimum - kBytes) << "seed " << kOptimumSeed << " round " << round << " factor " << factor;
      EXPECT_LE(bound, optimum + kBytes) << "seed " << kOptimumSeed << " round " << round << " factor " << factor;
      sums.rows += rows;
      sums.optimum += optimum;
      sums.bound += bound;
      sums.worst = std::max(sums.worst, rows / optimum - 1);
    }
  }
  return sums;
}

TEST(MemoryOptimum, RowsAreNearItOnSmallCases) {
  const Compared found = compare(6, 100);
  RecordProperty("above", std::to_string(100 * (found.rows / found.optimum - 1)));
  RecordProperty("worst", std::to_string(100 * found.worst));
  EXPECT_LE(found.worst, 0.03);
  EXPECT_LE(found.rows, 1.001 * found.optimum);
}

TEST(MemoryOptimum, IsTheYardstickOnLargeOnes) {
  const Compared found = compare(80, 4);
  EXPECT_LE(found.rows, 1.05 * found.optimum) << "worst case " << 100 * found.worst << " %";
  EXPECT_LE(found.bound, found.optimum);
}

/// On networks what parts of tensors move is the least there is, to what the solver rounds.
TEST(MemoryOptimum, IsReachedOnNetworks) {
  for (const char *model : {"resnet50.graph", "mobilenet_v2.graph"}) {
    const graph::Graph graph =
        compiler::load_graph(std::filesystem::path(GW_SOURCE_DIR) / "models" / model, compiler::NetworkSettings(32));
    const Iteration iteration = iteration_of(graph, graph::operators());
    const Uses uses(iteration);
    Planner planner(iteration, uses);
    for (const std::uint64_t mebibytes : {24, 96}) {
      const Moved bytes = moved(iteration, uses, planner.rows(mebibytes << 20U));
      const double optimum = least_traffic(iteration, uses, mebibytes << 20U, Placed::kRows);
      EXPECT_NEAR(static_cast<double>(bytes.in + bytes.out), optimum, 1e-3 * optimum) << model << ", " << mebibytes;
    }
  }
}

/// Whole tensors move at least as much as parts, and `pack` at least as much as the best of them.
TEST(MemoryOptimum, OfWholeTensorsIsBetweenRowsAndPack) {
  std::mt19937 random(kOptimumSeed);
  double pack = 0, whole = 0, rows = 0;
  for (int round = 0; round < 60; ++round) {
    const Iteration iteration = test::random_iteration(random, 5);
    const Uses uses(iteration);
    const Planner planner(iteration, uses);
    const std::uint64_t capacity = 2 * uses.largest_window();
    const Moved packed = moved(iteration, uses, planner.pack(capacity));
    const double best = least_traffic(iteration, uses, capacity, Placed::kWhole);
    ASSERT_GE(best, least_traffic(iteration, uses, capacity, Placed::kRows) - kBytes) << "round " << round;
    ASSERT_GE(static_cast<double>(packed.in + packed.out), best - kBytes) << "round " << round;
    pack += static_cast<double>(packed.in + packed.out);
    whole += best;
    rows += least_traffic(iteration, uses, capacity, Placed::kRows);
  }
  EXPECT_LT(rows, whole);
  EXPECT_LT(whole, pack);
}

} // namespace
} // namespace gradweave::memory_model
