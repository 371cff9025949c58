// Properties of all policies on random iterations; and that faults break them.
#include "memory_model/iteration/fuse.hpp"
#include "memory_model/placement.hpp"
#include "memory_model/policies.hpp"
#include "tests/memory_model/properties.hpp"
#include "tests/memory_model/random_iteration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gradweave::memory_model {
namespace {

using test::broken;
using test::random_iteration;

constexpr unsigned kSeed = 20260126;
constexpr double kBandwidth = 10, kThroughput = 100;

std::vector<std::uint64_t> capacities(const Iteration &iteration) {
  std::vector<std::uint64_t> all;
  const std::uint64_t least = least_capacity(iteration);
  for (std::uint64_t capacity = least; capacity < 40 * least; capacity += least / 2 + 1)
    all.push_back(capacity);
  return all;
}

template <typename Test> void for_random_iterations(int rounds, Test test) {
  std::mt19937 random(kSeed);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + " round " + std::to_string(round));
    const Iteration iteration = random_iteration(random, 4 + static_cast<std::uint32_t>(round) % 16);
    check(iteration);
    test(iteration);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(MemoryProperties, HoldOfAllPolicies) {
  for_random_iterations(150, [](const Iteration &plain) {
    for (const Policy policy : {Policy::kThesis, Policy::kPack, Policy::kRows, Policy::kFused}) {
      const Iteration iteration = iteration_for(policy, plain);
      const Sweep sweep{capacities(iteration), kBandwidth, kThroughput};
      const std::vector<Estimate> estimates = estimate(policy, iteration, sweep);
      for (std::size_t i = 0; i < estimates.size(); ++i)
        ASSERT_EQ(broken(iteration, estimates[i], {sweep.capacities[i], kBandwidth, kThroughput}),
                  std::vector<std::string>{})
            << to_string(policy);
    }
  });
}

TEST(MemoryProperties, HoldOfPlansToTheByte) {
  for_random_iterations(80, [](const Iteration &iteration) {
    const Uses uses(iteration);
    Planner planner(iteration, uses);
    for (const std::uint64_t capacity : capacities(iteration)) {
      const Machine machine{capacity, kBandwidth, kThroughput};
      for (const Plan &plan : {planner.rows(capacity), planner.pack(capacity)}) {
        ASSERT_NO_THROW(check(iteration, uses, plan, capacity));
        ASSERT_EQ(broken(iteration, plan, estimate_plan(iteration, uses, planner.gaps(), plan, machine), machine),
                  std::vector<std::string>{});
      }
    }
  });
}

/// What the thesis's policy lets stay is a plan of whole tensors, and it moves what that plan does; a step that fits
/// has its tensors beside what stays.
TEST(MemoryProperties, HoldOfTheThesisToTheByte) {
  for_random_iterations(80, [](const Iteration &iteration) {
    const Uses uses(iteration);
    for (const std::uint64_t capacity : capacities(iteration)) {
      const Machine machine{capacity, kBandwidth, kThroughput};
      const std::vector<bool> stays = belady(iteration, uses, capacity);
      for (const bool prefetch : {true, false})
        for (const auto large : {ThesisReading::Large::kStreamed, ThesisReading::Large::kWaits})
          for (const auto bus : {ThesisReading::Bus::kLoadsFirst, ThesisReading::Bus::kInOrder})
            ASSERT_EQ(broken(iteration, whole(iteration, uses, stays),
                             estimate_thesis(iteration, uses, stays, machine, {large, bus, prefetch}), machine),
                      std::vector<std::string>{});
      for (std::uint32_t s = 0; s < iteration.steps.size(); ++s) {
        std::uint64_t held = uses.footprint[s];
        for (std::uint32_t a = 0; a < uses.first[s]; ++a)
          if (stays[a] && uses.step[uses.next[a]] > s) held += iteration.tensors[uses.what[a].tensor].bytes;
        if (uses.footprint[s] <= capacity) {
          ASSERT_LE(held, capacity) << "step " << s;
        }
      }
    }
  });
}

/// Plans of long iterations, which no flow makes.
TEST(MemoryProperties, HoldOfLongIterationsToTheByte) {
  std::mt19937 random(kSeed);
  const Iteration iteration = random_iteration(random, 2000);
  ASSERT_GT(iteration.steps.size(), Planner::kMostSteps);
  const Uses uses(iteration);
  Planner planner(iteration, uses);
  for (const std::uint64_t factor : {1, 3, 40}) {
    const Machine machine{factor * uses.largest_window(), kBandwidth, kThroughput};
    const Plan plan = planner.rows(machine.capacity);
    ASSERT_NO_THROW(check(iteration, uses, plan, machine.capacity));
    ASSERT_EQ(broken(iteration, plan, estimate_plan(iteration, uses, planner.gaps(), plan, machine), machine),
              std::vector<std::string>{});
  }
}

/// Reads of the optimal placement, the bound and the time of a sweep.
TEST(MemoryProperties, NothingGrowsWithCapacity) {
  for_random_iterations(80, [](const Iteration &iteration) {
    const Uses uses(iteration);
    Planner planner(iteration, uses);
    const Sweep sweep{capacities(iteration), kBandwidth, kThroughput};
    const std::vector<Estimate> rows = estimate(Policy::kRows, iteration, sweep);
    const std::vector<Estimate> thesis = estimate(Policy::kThesis, iteration, sweep);
    std::uint64_t bound = UINT64_MAX;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint64_t least = planner.least_traffic(sweep.capacities[i]);
      ASSERT_LE(least, bound);
      ASSERT_LE(rows[i].seconds, thesis[i].seconds);
      if (i > 0) {
        ASSERT_LE(rows[i].seconds, rows[i - 1].seconds);
        ASSERT_LE(rows[i].traffic(), rows[i - 1].traffic());
      }
      bound = least;
    }
  });
}

TEST(MemoryProperties, HaveTheirLimits) {
  for_random_iterations(60, [](const Iteration &iteration) {
    std::uint64_t once = 0;
    for (const Tensor &tensor : iteration.tensors)
      once += tensor.bytes * ((tensor.in_memory ? 1U : 0U) + (tensor.to_memory ? 1U : 0U));
    const std::uint64_t all =
        std::accumulate(iteration.tensors.begin(), iteration.tensors.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const Tensor &tensor) { return sum + 4 * tensor.bytes; });
    for (const Policy policy : {Policy::kThesis, Policy::kPack, Policy::kRows}) {
      ASSERT_EQ(estimate(policy, iteration, {all, kBandwidth, kThroughput}).traffic(), once) << to_string(policy);
      const Estimate quick = estimate(policy, iteration, {least_capacity(iteration), 1e18, kThroughput});
      ASSERT_NEAR(quick.seconds, iteration.operations() / kThroughput, 1e-6 * quick.seconds) << to_string(policy);
    }
  });
}

TEST(MemoryProperties, DependOnNoNumberOfATensor) {
  std::mt19937 random(kSeed);
  for_random_iterations(40, [&random](const Iteration &iteration) {
    std::vector<std::uint32_t> order(iteration.tensors.size());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), random);
    Iteration other = iteration;
    for (std::size_t t = 0; t < order.size(); ++t)
      other.tensors[order[t]] = iteration.tensors[t];
    for (Step &step : other.steps)
      for (Access &access : step.accesses)
        access.tensor = order[access.tensor];
    for (const Policy policy : {Policy::kThesis, Policy::kPack, Policy::kRows}) {
      const Machine machine{3 * least_capacity(iteration), kBandwidth, kThroughput};
      const Estimate a = estimate(policy, iteration, machine), b = estimate(policy, other, machine);
      ASSERT_EQ(a.seconds, b.seconds) << to_string(policy);
      ASSERT_EQ(a.bytes_in, b.bytes_in) << to_string(policy);
    }
  });
}

/// A policy with a fault breaks a property.
TEST(MemoryProperties, SeeFaults) {
  std::mt19937 random(kSeed);
  const Iteration iteration = random_iteration(random, 12);
  const Uses uses(iteration);
  Planner planner(iteration, uses);
  const std::uint64_t capacity = 2 * least_capacity(iteration);
  const Machine machine{capacity, kBandwidth, kThroughput};
  const Plan plan = planner.rows(capacity);
  const Estimate good = estimate_plan(iteration, uses, planner.gaps(), plan, machine);
  ASSERT_TRUE(broken(iteration, plan, good, machine).empty());
  Estimate fault = good;
  fault.bytes_in -= 1; // a byte is not loaded
  EXPECT_FALSE(broken(iteration, plan, fault, machine).empty());
  fault = good;
  fault.bytes_out -= 1; // one is not stored
  EXPECT_FALSE(broken(iteration, plan, fault, machine).empty());
  fault = good;
  fault.seconds = good.compute_seconds / 2;
  EXPECT_FALSE(broken(iteration, fault, machine).empty());
  Plan full = plan; // all stays, as if there were room
  for (const Gap &gap : planner.gaps())
    full.kept[gap.access] = gap.bytes;
  EXPECT_THROW(check(iteration, uses, full, capacity), std::logic_error);
  EXPECT_FALSE(broken(iteration, full, good, machine).empty());
  const Gap &first = planner.gaps().front();
  full = plan;
  full.kept[first.access] = first.bytes + 1; // more than there is
  EXPECT_THROW(check(iteration, uses, full, 100 * capacity), std::logic_error);
}

/// What Belady's rule keeps of whole tensors, against the opposite rule: without it the thesis's policy moves more.
TEST(MemoryProperties, BeladyMovesLessThanItsOpposite) {
  std::uint64_t belady_bytes = 0, opposite_bytes = 0;
  for_random_iterations(60, [&](const Iteration &iteration) {
    const Uses uses(iteration);
    const std::uint64_t capacity = 3 * least_capacity(iteration);
    const std::vector<bool> stays = belady(iteration, uses, capacity);
    std::uint64_t held = 0, most = 0;
    for (std::uint32_t a = 0; a < uses.accesses(); ++a) {
      if (!stays[a]) continue;
      ASSERT_NE(uses.next[a], kNever);
      belady_bytes += iteration.tensors[uses.what[a].tensor].bytes;
    }
    for (std::uint32_t s = 0; s < iteration.steps.size(); ++s, held = 0) {
      for (std::uint32_t a = 0; a < uses.first[s + 1]; ++a)
        if (stays[a] && uses.step[uses.next[a]] > s) held += iteration.tensors[uses.what[a].tensor].bytes;
      most = std::max(most, held);
    }
    ASSERT_LE(most, capacity);
    const std::vector<Gap> gaps = find_gaps(iteration, uses);
    std::vector<Gap> farthest_first = gaps;
    std::sort(farthest_first.begin(), farthest_first.end(),
              [](const Gap &a, const Gap &b) { return a.to - a.from > b.to - b.from; });
    std::vector<std::uint64_t> room(Places::kEach * iteration.steps.size(), capacity);
    for (const Gap &gap : farthest_first) {
      if (std::any_of(room.begin() + gap.from, room.begin() + gap.to,
                      [&gap](std::uint64_t left) { return left < gap.bytes; }))
        continue;
      std::for_each(room.begin() + gap.from, room.begin() + gap.to, [&gap](std::uint64_t &left) { left -= gap.bytes; });
      opposite_bytes += gap.bytes;
    }
  });
  EXPECT_GT(belady_bytes, opposite_bytes);
}

} // namespace
} // namespace gradweave::memory_model
