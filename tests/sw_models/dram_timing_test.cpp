// The DRAM timing rules one by one, their causality, and the bandwidth that they reach.
#include "base/random/dice.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/memory/dram_timing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <vector>

namespace gradweave {
namespace {

using Direction = DramTiming::Direction;
using Grant = DramTiming::Grant;

MemoryConfig dram(std::uint64_t num = 32, std::uint64_t den = 1) {
  MemoryConfig d;
  d.bytes_num = num;
  d.bytes_den = den;
  d.latency_cycles = 100;
  d.turnaround_cycles = 8;
  d.batch_bytes = 1024;
  return d;
}

std::vector<Grant> advance_all(DramTiming &t, std::uint64_t cycle) {
  std::vector<Grant> grants;
  while (const auto g = t.advance(cycle))
    grants.push_back(*g);
  return grants;
}

TEST(DramTiming, OneReadTakesItsTimeAndTheLatency) {
  DramTiming t(dram(), 32); // a beat a cycle
  t.push(Direction::kRead, 10, 4, 7);
  EXPECT_FALSE(t.advance(9));
  const Grant g = *t.advance(10);
  EXPECT_EQ(g.id, 7U);
  EXPECT_EQ(t.read_beat_cycle(g, 0), 10U + 1 + 100);
  EXPECT_EQ(t.read_beat_cycle(g, 3), 10U + 4 + 100);
  EXPECT_FALSE(t.advance(1000));
}

TEST(DramTiming, AWriteIsAnsweredAfterItsService) {
  DramTiming t(dram(22), 32);
  t.push(Direction::kWrite, 5, 16, 0);
  const Grant g = *t.advance(5);
  EXPECT_EQ(t.write_response_cycle(g), 5U + 24 + 100) << "512 bytes at 22 a cycle: 23.3 cycles";
}

/// Every bit of the latency counts, up to the most that a configuration may ask for.
TEST(DramTiming, LatencyAtItsLimitsAndAtEachBit) {
  std::vector<std::uint32_t> latencies{0, 99'999, 100'000};
  for (std::uint32_t power = 1; power <= 100'000; power *= 2)
    latencies.insert(latencies.end(), {power - 1, power, power + 1});
  for (std::uint32_t latency : latencies) {
    MemoryConfig config = dram();
    config.latency_cycles = latency;
    DramTiming t(config, 32);
    t.push(Direction::kRead, 10, 4, 7);
    EXPECT_EQ(t.read_beat_cycle(*t.advance(10), 3), 10U + 4 + latency);
    t.push(Direction::kWrite, 1000, 4, 7);
    EXPECT_EQ(t.write_response_cycle(*t.advance(1000)), 1000U + 4 + latency);
  }
}

/// The same of the turnaround.
TEST(DramTiming, TurnaroundAtItsLimitsAndAtEachBit) {
  std::vector<std::uint32_t> turnarounds{0, 9'999, 10'000};
  for (std::uint32_t power = 1; power <= 10'000; power *= 2)
    turnarounds.insert(turnarounds.end(), {power - 1, power, power + 1});
  for (const std::uint32_t turnaround : turnarounds) {
    MemoryConfig config = dram();
    config.turnaround_cycles = turnaround;
    DramTiming t(config, 32);
    t.push(Direction::kRead, 10, 4, 0);
    t.push(Direction::kWrite, 12, 4, 1);
    const std::vector<Grant> grants = advance_all(t, 20'000);
    ASSERT_EQ(grants.size(), 2U);
    EXPECT_EQ(grants[1].start.cycle, 10U + 4 + turnaround);
  }
}

TEST(DramTiming, FractionsCarryOverBetweenBursts) {
  DramTiming t(dram(1000, 7), 256); // 1.792 cycles a beat
  for (std::uint32_t i = 0; i < 1000; ++i)
    t.push(Direction::kRead, 0, 1, i);
  const std::vector<Grant> grants = advance_all(t, 100'000);
  ASSERT_EQ(grants.size(), 1000U);
  for (std::size_t i = 0; i < grants.size(); ++i) {
    const std::uint64_t end = (256 * 7 * (i + 1) + 999) / 1000; // exact, rounded up once
    ASSERT_EQ(t.read_beat_cycle(grants[i], 0), end + 100);
  }
}

TEST(DramTiming, AnIdleChannelStartsAtTheArrival) {
  DramTiming t(dram(), 32);
  t.push(Direction::kRead, 0, 4, 0);
  t.push(Direction::kRead, 50, 4, 1);
  const std::vector<Grant> g = advance_all(t, 50);
  ASSERT_EQ(g.size(), 2U);
  EXPECT_EQ(t.read_beat_cycle(g[1], 0), 151U);
}

TEST(DramTiming, ChangingDirectionCostsTheTurnaround) {
  DramTiming t(dram(), 32);
  t.push(Direction::kRead, 0, 10, 0);
  t.push(Direction::kWrite, 0, 10, 1);
  const std::vector<Grant> g = advance_all(t, 1000);
  ASSERT_EQ(g.size(), 2U);
  EXPECT_EQ(g[0].direction, Direction::kRead) << "reads first";
  EXPECT_EQ(t.write_response_cycle(g[1]), 10U + 8 + 10 + 100);
}

TEST(DramTiming, AnIdleChannelHasTurnedAroundAlready) {
  DramTiming t(dram(), 32);
  t.push(Direction::kRead, 0, 10, 0); // ends at 10
  t.push(Direction::kWrite, 14, 10, 1);
  t.push(Direction::kRead, 50, 10, 2);
  const std::vector<Grant> g = advance_all(t, 1000);
  ASSERT_EQ(g.size(), 3U);
  EXPECT_EQ(t.write_response_cycle(g[1]), 18U + 10 + 100) << "4 of the 8 cycles had passed";
  EXPECT_EQ(t.read_beat_cycle(g[2], 0), 51U + 100);
}

TEST(DramTiming, TheFirstBurstPaysNoTurnaround) {
  DramTiming t(dram(), 32);
  t.push(Direction::kWrite, 3, 1, 0);
  EXPECT_EQ(t.write_response_cycle(*t.advance(3)), 104U);
}

TEST(DramTiming, ADirectionKeepsTheChannelForABatch) {
  DramTiming t(dram(), 32); // bursts of 256 bytes, batches of 1024
  for (std::uint64_t i = 0; i < 12; ++i)
    t.push(Direction::kRead, 0, 8, i);
  for (std::uint64_t i = 0; i < 12; ++i)
    t.push(Direction::kWrite, 0, 8, i);
  std::string order;
  for (const Grant &g : advance_all(t, 10'000))
    order += g.direction == Direction::kRead ? 'r' : 'w';
  EXPECT_EQ(order, "rrrrwwwwrrrrwwwwrrrrwwww");
}

TEST(DramTiming, ABatchCountsFromWhenTheOtherDirectionBeganToWait) {
  DramTiming t(dram(), 32);
  for (std::uint64_t i = 0; i < 20; ++i)
    t.push(Direction::kRead, 0, 8, i); // eight cycles each
  t.push(Direction::kWrite, 33, 8, 0); // during the fifth read
  std::string order;
  for (const Grant &g : advance_all(t, 10'000))
    order += g.direction == Direction::kRead ? 'r' : 'w';
  EXPECT_EQ(order, "rrrrrrrrrwrrrrrrrrrrr") << "four more reads after the fifth";
}

TEST(DramTiming, AnIdleDirectionGivesWayAtOnce) {
  DramTiming t(dram(), 32);
  t.push(Direction::kRead, 0, 1, 0);
  t.push(Direction::kWrite, 0, 1, 0);
  t.push(Direction::kRead, 2, 1, 1); // too late: at cycle 1 only the write waits
  std::string order;
  for (const Grant &g : advance_all(t, 100))
    order += g.direction == Direction::kRead ? 'r' : 'w';
  EXPECT_EQ(order, "rwr");
}

MemoryConfig refreshing() {
  MemoryConfig d = dram();
  d.refresh_cycles = 30;
  d.refresh_interval_cycles = 200;
  return d;
}

/// A busy channel loses refresh_cycles of every interval, however long its bursts are.
TEST(DramTiming, ABusyChannelRefreshesOnceAnInterval) {
  for (const std::uint32_t accesses : {1U, 7U, 64U, 128U}) {
    DramTiming t(refreshing(), 32);
    const std::uint32_t bursts = 40'000 / accesses;
    for (std::uint32_t i = 0; i < bursts; ++i)
      t.push(Direction::kRead, 0, accesses, i);
    const std::vector<Grant> grants = advance_all(t, 1'000'000);
    std::uint64_t lost = 0;
    for (std::size_t i = 1; i < grants.size(); ++i) {
      const std::uint64_t pause = grants[i].start.cycle - grants[i - 1].end.cycle;
      EXPECT_TRUE(pause == 0 || pause == 30) << pause;
      lost += pause;
    }
    const std::uint64_t intervals = grants[grants.size() - 2].end.cycle / 200; // until the last choice
    EXPECT_EQ(lost, intervals * 30) << accesses;
  }
}

TEST(DramTiming, ARefreshWaitsForTheServiceAndDelaysTheNext) {
  DramTiming t(refreshing(), 32);
  t.push(Direction::kRead, 10, 120, 0);
  t.push(Direction::kRead, 10, 120, 1); // 130 to 250: due in 210
  t.push(Direction::kRead, 10, 8, 2);
  const std::vector<Grant> g = advance_all(t, 1000);
  EXPECT_EQ(g[1].end.cycle, 250U);
  EXPECT_EQ(g[2].start.cycle, 280U);
}

/// Idle as long as a refresh: it has refreshed, and the next is due an interval later. A cycle less, and it has not.
TEST(DramTiming, AnIdleChannelRefreshesUnseen) {
  for (const std::uint64_t idle : {29U, 30U}) {
    DramTiming t(refreshing(), 32);
    t.push(Direction::kRead, 0, 100, 0); // first due in 200
    t.push(Direction::kRead, 100 + idle, 100, 1);
    t.push(Direction::kRead, 100 + idle, 1, 2);
    const std::vector<Grant> g = advance_all(t, 1000);
    EXPECT_EQ(g[1].start.cycle, 100 + idle);
    EXPECT_EQ(g[2].start.cycle, 200 + idle + (idle < 30 ? 30 : 0));
  }
}

TEST(DramTiming, AChannelTurnsAroundWhileItRefreshes) {
  for (const std::uint32_t turnaround : {8U, 50U}) {
    MemoryConfig config = refreshing();
    config.turnaround_cycles = turnaround;
    DramTiming t(config, 32);
    for (std::uint32_t i = 0; i < 2; ++i)
      t.push(Direction::kRead, 0, 100, i);
    t.push(Direction::kWrite, 150, 4, 2);
    EXPECT_EQ(advance_all(t, 1000).back().start.cycle, 200 + std::max(30U, turnaround));
  }
}

TEST(DramTiming, NextChoiceCycle) {
  DramTiming t(dram(22), 32);
  EXPECT_EQ(t.next_choice_cycle(), DramTiming::kNoChoice);
  t.push(Direction::kRead, 4, 16, 0);
  t.push(Direction::kRead, 4, 1, 1);
  EXPECT_EQ(t.next_choice_cycle(), 4U);
  ASSERT_TRUE(t.advance(4));
  EXPECT_EQ(t.next_choice_cycle(), 27U) << "4 + 23.3";
  EXPECT_FALSE(t.advance(26));
  EXPECT_TRUE(t.advance(27));
}

TEST(DramTiming, RefusesArrivalsThatAreSettled) {
  DramTiming t(dram(), 32);
  t.advance(10);
  EXPECT_THROW(t.push(Direction::kRead, 10, 1, 0), std::logic_error);
  t.push(Direction::kRead, 12, 1, 0);
  EXPECT_THROW(t.push(Direction::kRead, 11, 1, 0), std::logic_error) << "before an earlier arrival";
  t.push(Direction::kWrite, 11, 1, 0);
  EXPECT_THROW(t.push(Direction::kWrite, 12, 0, 0), std::logic_error) << "no beats";
}

TEST(DramTiming, RefusesAChannelWithoutBandwidth) {
  EXPECT_THROW(DramTiming(dram(0), 32), std::invalid_argument);
  EXPECT_THROW(DramTiming(dram(), 0), std::invalid_argument);
}

struct Arrival {
  Direction direction;
  std::uint64_t cycle;
  std::uint32_t beats;
};

using Observed = std::tuple<Direction, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
Observed observed(const Grant &g) {
  return {g.direction, g.id, g.start.cycle, g.start.ticks, g.end.cycle, g.end.ticks};
}

/// Feeding the model cycle by cycle, event by event, or all at once gives the same grants: it is causal.
TEST(DramTiming, TheCallersRhythmDoesNotMatter) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    MemoryConfig config = dram(1 + dice.below(40), 1 + dice.below(7));
    config.turnaround_cycles = static_cast<std::uint32_t>(dice.below(10));
    config.batch_bytes = static_cast<std::uint32_t>(1 + dice.below(2000));
    std::vector<Arrival> arrivals;
    std::uint64_t cycle = 0;
    for (int i = 0; i < 60; ++i) {
      cycle += dice.below(3) == 0 ? dice.below(120) : dice.below(3);
      arrivals.push_back({dice.chance(0.5) ? Direction::kRead : Direction::kWrite, cycle,
                          static_cast<std::uint32_t>(1 + dice.below(20))});
    }

    std::vector<Observed> at_once;
    DramTiming a(config, 16);
    for (std::uint32_t i = 0; i < arrivals.size(); ++i)
      a.push(arrivals[i].direction, arrivals[i].cycle, arrivals[i].beats, i);
    for (const Grant &g : advance_all(a, 1'000'000))
      at_once.push_back(observed(g));

    std::vector<Observed> by_cycle;
    DramTiming b(config, 16);
    std::uint32_t next = 0;
    for (std::uint64_t c = 0; by_cycle.size() < arrivals.size(); ++c) {
      ASSERT_LT(c, 1'000'000U) << "seed " << seed;
      for (; next < arrivals.size() && arrivals[next].cycle == c; ++next)
        b.push(arrivals[next].direction, c, arrivals[next].beats, next);
      for (const Grant &g : advance_all(b, c)) {
        EXPECT_GT(b.read_beat_cycle(g, 0), c + config.latency_cycles) << "an answer in the past";
        by_cycle.push_back(observed(g));
      }
    }

    std::vector<Observed> by_event;
    DramTiming e(config, 16);
    next = 0;
    while (by_event.size() < arrivals.size()) {
      const auto choice = e.next_choice_cycle();
      const std::uint64_t arrival = next < arrivals.size() ? arrivals[next].cycle : DramTiming::kNoChoice;
      const std::uint64_t now = std::min(choice, arrival);
      for (; next < arrivals.size() && arrivals[next].cycle == now; ++next)
        e.push(arrivals[next].direction, now, arrivals[next].beats, next);
      for (const Grant &g : advance_all(e, now))
        by_event.push_back(observed(g));
    }

    ASSERT_EQ(by_cycle, at_once) << "seed " << seed;
    ASSERT_EQ(by_event, at_once) << "seed " << seed;
  }
}

class ShippedNpus : public testing::TestWithParam<const char *> {
protected:
  Machine config_ = load_machine(std::string("configs/") + GetParam() + ".toml");
};

TEST_P(ShippedNpus, SaturatingReadsReachTheBandwidthExactly) {
  DramTiming t(config_.memory, config_.bus_bytes);
  constexpr std::uint32_t kBursts = 2000;
  constexpr std::uint32_t kBeats = 8;
  for (std::uint32_t i = 0; i < kBursts; ++i)
    t.push(Direction::kRead, 0, kBeats, i);
  const Grant last = advance_all(t, 1'000'000'000).back();
  EXPECT_EQ(last.end.cycle * t.ticks_per_cycle() + last.end.ticks,
            std::uint64_t{kBursts} * kBeats * config_.bus_bytes * config_.memory.bytes_den)
      << "ticks are 1/" << t.ticks_per_cycle() << " cycles";
}

TEST_P(ShippedNpus, MixedTrafficReaches95Percent) {
  DramTiming t(config_.memory, config_.bus_bytes);
  const std::uint32_t beats = 4096 / config_.bus_bytes > 256 ? 256 : 4096 / config_.bus_bytes;
  constexpr std::uint32_t kBursts = 1000;
  for (std::uint32_t i = 0; i < kBursts; ++i) {
    t.push(Direction::kRead, 0, beats, i);
    t.push(Direction::kWrite, 0, beats, i);
  }
  const Grant last = advance_all(t, 1'000'000'000).back();
  const double ideal = 2.0 * kBursts * beats * config_.bus_bytes * static_cast<double>(config_.memory.bytes_den) /
                       static_cast<double>(config_.memory.bytes_num);
  EXPECT_GT(ideal / static_cast<double>(last.end.ceil()), 0.95);
}

INSTANTIATE_TEST_SUITE_P(Configurations, ShippedNpus, testing::Values("small", "large", "test8", "test6x10", "test16"));

} // namespace
} // namespace gradweave
