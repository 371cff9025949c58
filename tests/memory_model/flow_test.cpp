// Flows over intervals against all ways to hold them.
#include "memory_model/flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gradweave::memory_model {
namespace {

std::int64_t profit(const std::vector<Interval> &intervals, const std::vector<std::uint64_t> &held) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < intervals.size(); ++i)
    sum += intervals[i].profit * static_cast<std::int64_t>(held[i]);
  return sum;
}

bool fits(const std::vector<Interval> &intervals, const std::vector<std::uint64_t> &held, std::uint32_t places,
          std::uint64_t room) {
  for (std::uint32_t place = 0; place + 1 < places; ++place) {
    std::uint64_t there = 0;
    for (std::size_t i = 0; i < intervals.size(); ++i)
      if (intervals[i].from <= place && place < intervals[i].to) there += held[i];
    if (there > room) return false;
  }
  return true;
}

/// The most profit of all ways.
std::int64_t best(const std::vector<Interval> &intervals, std::vector<std::uint64_t> &held, std::size_t i,
                  std::uint32_t places, std::uint64_t room) {
  if (i == intervals.size()) return profit(intervals, held);
  std::int64_t most = 0;
  for (held[i] = 0; held[i] <= intervals[i].units; ++held[i])
    if (fits(intervals, held, places, room)) most = std::max(most, best(intervals, held, i + 1, places, room));
  held[i] = 0;
  return most;
}

TEST(IntervalFlow, HasTheMostProfitOfAllWays) {
  constexpr unsigned kSeed = 4711;
  RecordProperty("seed", std::to_string(kSeed));
  std::mt19937 random(kSeed);
  const auto from_to = [&random](std::uint32_t a, std::uint32_t b) {
    return std::uniform_int_distribution<std::uint32_t>(a, b)(random);
  };
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t places = from_to(3, 7);
    std::vector<Interval> intervals(from_to(1, 6));
    for (Interval &interval : intervals) {
      interval.from = from_to(0, places - 2);
      interval.to = from_to(interval.from + 1, places - 1);
      interval.units = from_to(1, 3);
      interval.profit = from_to(1, 9);
    }
    IntervalFlow flow(places, intervals);
    for (std::uint64_t room = 0; room <= 6; ++room) { // grows
      flow.grow(room);
      std::vector<std::uint64_t> held(intervals.size());
      ASSERT_TRUE(fits(intervals, flow.held(), places, room)) << "seed " << kSeed << " round " << round;
      ASSERT_EQ(profit(intervals, flow.held()), best(intervals, held, 0, places, room))
          << "seed " << kSeed << " round " << round << " room " << room;
    }
  }
}

} // namespace
} // namespace gradweave::memory_model
