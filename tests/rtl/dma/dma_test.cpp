// Load and store engines against the reference, cycle by cycle: random tiles under random back-pressure, errors,
// stops, rates.
#include "dma_bench.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

namespace {

using namespace gradweave;
using namespace gradweave::dma_test;

isa::DmaCommand tile(bool store, std::uint64_t offset, std::uint32_t rows, std::uint32_t cols, std::uint32_t pitch,
                     bool fp32 = false) {
  isa::DmaCommand c;
  c.store = store;
  c.fp32 = fp32;
  c.dram_addr = kDramBase + (store ? kDramHalf : 0) + offset;
  c.rows = rows;
  c.cols = cols;
  c.pitch = pitch;
  c.spm.row = store ? kSpmHalf : 0;
  c.spm.pstride = rows * (fp32 ? 2 : 1);
  return c;
}

struct Traffic {
  const char *name;
  double stall;
  std::uint32_t latency;
  bool fetch;
  friend void PrintTo(const Traffic &t, std::ostream *os) { *os << t.name; }
};

class RandomTiles : public testing::TestWithParam<Traffic> {};

TEST_P(RandomTiles, MoveExactlyTheirBytes) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    BenchOptions options;
    options.seed = seed;
    options.stall = GetParam().stall;
    options.latency = GetParam().latency;
    options.fetch = GetParam().fetch;
    Bench bench(options);
    bench.add_random(50);
    bench.run();
    ASSERT_EQ(bench.problems(), "");
    EXPECT_EQ(bench.fetches() > 0, options.fetch);
  }
}

INSTANTIATE_TEST_SUITE_P(Dma, RandomTiles,
                         testing::Values(Traffic{"AtOnce", 0, 0, false}, Traffic{"Late", 0, 30, false},
                                         Traffic{"Stalled", 0.3, 5, false}, Traffic{"Crawling", 0.8, 3, false},
                                         Traffic{"WithFetch", 0, 4, true}, Traffic{"StalledWithFetch", 0.5, 20, true}),
                         [](const auto &test) { return std::string(test.param.name); });

TEST(Dma, NoPathLeadsFromBusInputsToBusOutputs) {
  BenchOptions options;
  options.stall = 0.5;
  options.fetch = true;
  options.probe_paths = true;
  Bench bench(options);
  bench.add_random(20);
  bench.run();
  EXPECT_EQ(bench.problems(), "");
}

TEST(Dma, SmallestAndLongestRows) {
  for (bool store : {false, true}) {
    Bench bench({});
    bench.add(tile(store, 2, 1, 1, 0));
    bench.add(tile(store, 4096 - 4, 1, 1, 0, true));
    bench.add(tile(store, 65536 - 2, 3, 2, 0x8000)); // across the 4 GB border
    bench.add(tile(store, 6, 1, std::min(65535U, kSpmHalf * kLanes), 0));
    bench.add(tile(store, 4, 1, std::min(65535U, kSpmHalf / 2 * kLanes), 0, true));
    bench.add(tile(store, kBus - 2, 40, 1, 2 * kBus));
    bench.add(tile(store, 0, 2, kLanes * 8, 8192, true));
    bench.run();
    EXPECT_EQ(bench.problems(), "");
  }
}

TEST(Dma, AddressesHaveAllTheirBits) {
  for (const std::uint64_t base : {(std::uint64_t{1} << 63U) - 0x10000, std::uint64_t{0} - 0x200000}) {
    BenchOptions options;
    options.dram_base = base;
    options.fetch = true;
    Bench bench(options);
    bench.add_random(50);
    bench.run();
    EXPECT_EQ(bench.problems(), "") << fmt::format("base {:#x}", base);
  }
}

/// Rows as far apart as a pitch can say, from addresses with one bit set, so that sums carry into each bit.
TEST(Dma, PitchesHaveAllTheirBits) {
  for (const bool store : {false, true}) {
    BenchOptions options;
    options.far = true;
    Bench bench(options);
    for (unsigned bit = 3; bit < 64; ++bit) {
      isa::DmaCommand c = tile(store, 0, 3, 5, bit < 32 ? 1U << bit : 0xFFFFFFFE);
      c.dram_addr = std::uint64_t{1} << bit;
      bench.add(c);
      c.dram_addr -= 4;
      c.pitch = 0xFFFFFFFE;
      bench.add(c);
    }
    bench.run(20000);
    EXPECT_EQ(bench.problems(), "") << (store ? "store" : "load");
  }
}

TEST(Dma, SyncCompletesInOrderAndAtOnceWhenAlone) {
  for (bool store : {false, true}) {
    Bench bench({});
    bench.add_sync(store);
    bench.cycle(); // starts
    bench.cycle(); // completes
    bench.cycle();
    EXPECT_EQ(bench.stats(store).dram, 1U);
    EXPECT_EQ(bench.stats(store).empty, 1U);
    for (int i = 0; i < 6; ++i) {
      bench.add_sync(store);
      bench.add(tile(store, 64U * static_cast<unsigned>(i), 1, 1, 0));
      bench.add_sync(store);
    }
    bench.run();
    EXPECT_EQ(bench.problems(), "");
  }
}

// --- Errors ----------------------------------------------------------------------------------------

class Errors : public testing::TestWithParam<bool> {}; // DECERR rather than SLVERR

TEST_P(Errors, NameTheCommand) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    BenchOptions options;
    options.seed = seed;
    options.stall = 0.3;
    std::uint8_t response = GetParam() ? 3 : 2;
    options.faults = {{false, kDramBase + 0x10000, 0x4000, response},
                      {true, kDramBase + kDramHalf + 0x20000, 0x4000, response}};
    Bench bench(options);
    bench.add(tile(false, 0x13FFE, 3, kLanes + 1, 2 * (kLanes + 1))); // from bad to good memory
    bench.add(tile(true, 0x1FFFE, 3, kLanes + 1, 2 * (kLanes + 1)));
    bench.add_random(40);
    bench.run();
    EXPECT_EQ(bench.problems(), "");
    EXPECT_GT(bench.errors(false), 0U);
    EXPECT_GT(bench.errors(true), 0U);
  }
}

// Commands follow each other so closely that one ends in the cycle in which the next one's error arrives.
TEST_P(Errors, NameTheCommandAmongNeighbours) {
  std::uint8_t response = GetParam() ? 3 : 2;
  const std::uint32_t fault = std::max(0x1000U, 16 * kBus); // beyond what the others touch
  BenchOptions options;
  options.faults = {{false, kDramBase + fault, 0x1000, response},
                    {true, kDramBase + kDramHalf + fault, 0x1000, response}};
  Bench bench(options);
  for (std::uint32_t i = 0; i < 12; ++i) {
    for (bool store : {false, true}) {
      bool bad = i % 3 == 2;
      bench.add(bad ? tile(store, fault, 1 + i % 2, 1, 64) : tile(store, 0, 1, 4 * kBus, 0)); // 8 beats pile up others
      if (i % 4 == 3) bench.add_sync(store);
    }
  }
  bench.run();
  EXPECT_EQ(bench.problems(), "");
  EXPECT_EQ(bench.errors(false), 6U);
  EXPECT_EQ(bench.errors(true), 6U);
}

INSTANTIATE_TEST_SUITE_P(Dma, Errors, testing::Bool(),
                         [](const auto &test) { return test.param ? "DecErr" : "SlvErr"; });

// --- Stop and soft reset ---------------------------------------------------------------------------

TEST(Dma, StopsBetweenBurstsAndWorksAgainAfterClear) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    BenchOptions options;
    options.seed = seed;
    options.stall = 0.4;
    Bench bench(options);
    bench.add_random(30);
    for (std::uint64_t i = 0; i < 50 + 37 * seed; ++i)
      bench.cycle();
    bench.run_enabled = false;
    for (int i = 0; i < 20; ++i)
      bench.cycle();
    for (int i = 0; i < 20000 && !bench.engines_quiet(); ++i)
      bench.cycle();
    // All that was offered is answered, nothing more is offered.
    ASSERT_TRUE(bench.engines_quiet());
    ASSERT_TRUE(bench.axi().idle());
    std::size_t loads = bench.axi().loads.size(), stores = bench.axi().stores.size();
    for (int i = 0; i < 50; ++i)
      bench.cycle();
    EXPECT_EQ(bench.axi().loads.size(), loads);
    EXPECT_EQ(bench.axi().stores.size(), stores);

    bench.clear();
    bench.run_enabled = true;
    bench.add_random(20);
    bench.run();
    ASSERT_EQ(bench.problems(), "");
  }
}

// Ended transfers that wait behind SYNCs for their turn are forgotten like all else.
TEST(Dma, ClearForgetsTransfersThatHaveEnded) {
  for (bool store : {false, true}) {
    int clears = 0;
    for (int cycles = 1; cycles <= 16; ++cycles) {
      BenchOptions options;
      options.latency = 0;
      Bench bench(options);
      bench.add(tile(store, 0, 1, 1, 0));
      bench.add_sync(store);
      bench.add_sync(store);
      bench.add(tile(store, 64, 1, 1, 0));
      for (int i = 0; i < cycles; ++i)
        bench.cycle();
      if (!bench.engines_quiet() || !bench.axi().idle()) continue;
      ++clears;
      bench.clear();
      bench.add(tile(store, 128, 3, 1, 64));
      bench.run();
      ASSERT_EQ(bench.problems(), "") << "cleared after " << cycles << " cycles";
    }
    EXPECT_GT(clears, 0);
  }
}

// --- Rates -----------------------------------------------------------------------------------------

TEST(Rates, LongRowsMoveABeatEveryCycle) {
  for (bool store : {false, true}) {
    BenchOptions options;
    // Which bursts as long as a page hide, and so do the commands that an engine holds.
    options.latency = std::min(std::min(2U, 4096 / kBus / 2) * kOutstanding, 512U);
    Bench bench(options);
    std::uint32_t cols = std::min(4 * kBus * 8, 1U << 15U); // 64 beats a row, or as many as a command can have
    for (int i = 0; i < 6; ++i)
      bench.add(tile(store, 2, 4, cols, 2 * cols));
    bench.run();
    EXPECT_EQ(bench.problems(), "");
    EXPECT_EQ(bench.stats(store).beat_rate(), 1.0) << (store ? "store" : "load");
  }
}

TEST(Rates, ShortRowsKeepTheBusBusy) {
  for (bool store : {false, true}) {
    BenchOptions options;
    options.latency = std::min(kOutstanding / 2, 128U); // the latter: the commands that an engine holds
    Bench bench(options);
    std::uint32_t cols = std::min(45U, kLanes);
    for (int i = 0; i < 20; ++i)
      bench.add(tile(store, 0, 45, cols, 2 * cols));
    bench.run();
    EXPECT_EQ(bench.problems(), "");
    EXPECT_GE(bench.stats(store).beat_rate(), 0.95) << (store ? "store" : "load");
  }
}

/// A memory that answers late enough gets as many bursts as are allowed, never more, and all of their data is in place.
TEST(Rates, AllOutstandingBurstsAreInFlight) {
  for (bool store : {false, true}) {
    BenchOptions options;
    options.latency = 3 * kOutstanding + 20;
    Bench bench(options);
    for (int i = 0; i < 2; ++i)
      bench.add(tile(store, 2, kOutstanding + 40, 1, kBus));
    bench.run();
    EXPECT_EQ(bench.problems(), "");
    EXPECT_EQ(store ? bench.axi().most_stores : bench.axi().most_loads, kOutstanding) << (store ? "store" : "load");
  }
}

// --- The checkers see what is wrong ----------------------------------------------------------------------

TEST(DmaChecker, SeesAWrongElement) {
  Bench bench({});
  bench.add(tile(false, 0, 2, kLanes, 2 * kLanes));
  bench.memory().data[2] ^= 1U; // after the expectation was made
  bench.run();
  EXPECT_NE(bench.problems().find("scratchpad row 0 lane 1"), std::string::npos) << bench.problems();
}

TEST(DmaChecker, SeesAWrongStoredByte) {
  Bench bench({});
  bench.add(tile(true, 0, 2, kLanes, 2 * kLanes));
  bench.spm().at(kSpmHalf, 0) ^= 0x100U;
  bench.run();
  EXPECT_NE(bench.problems().find(fmt::format("byte {:#x}", kDramBase + kDramHalf + 1)), std::string::npos)
      << bench.problems();
}

TEST(DmaChecker, SeesAByteWrittenTwice) {
  Bench bench({});
  bench.add(tile(true, 0, 1, 2, 0));
  bench.memory().write(kDramBase + kDramHalf, 0);
  bench.run();
  EXPECT_NE(bench.problems().find("written 2 times"), std::string::npos) << bench.problems();
}

TEST(DmaChecker, SeesAnEngineThatNeverEnds) {
  Bench bench({});
  bench.add(tile(false, 0, 1, 1, 0));
  bench.run_enabled = false;
  bench.run(100);
  EXPECT_NE(bench.problems().find("not finished"), std::string::npos);
}

} // namespace
