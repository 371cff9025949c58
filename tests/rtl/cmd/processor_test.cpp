// The command processor: registers, runs, errors and the watchdog, as software sees them.
#include "processor_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace {

using namespace gradweave;
using isa::Counter;
using isa::Csr;
using isa::ErrorCode;
using Bench = test::ProcessorBench;

constexpr std::uint64_t kSeed = 99;
constexpr std::uint32_t kBusy = 1, kDone = 2, kError = 4, kIrq = 8;

isa::Command sync(std::size_t engine, const isa::Sync &s = {}) {
  return isa::encode({isa::SyncCommand{static_cast<std::uint8_t>(engine)}, s, 0});
}

isa::Command waiting_sync(std::size_t engine, std::uint8_t semaphore) {
  isa::Sync s;
  s.waits[0] = {semaphore, 1};
  return sync(engine, s);
}

isa::Command illegal() {
  isa::Command c = sync(0);
  c.set(isa::field::OPCODE, 77);
  return c;
}

/// SYNCs whose order is a legal serial order: a command waits only for what earlier ones posted.
std::vector<isa::Command> random_stream(std::uint64_t seed, std::size_t commands) {
  std::mt19937_64 random(seed);
  std::array<std::uint32_t, 8> posted{};
  std::vector<isa::Command> stream;
  for (std::size_t i = 0; i < commands; ++i) {
    isa::Sync s;
    const std::size_t first = random() % posted.size();
    for (std::size_t w = 0; w < 3; ++w) {
      const std::size_t sem = (first + w) % posted.size();
      if (posted[sem] == 0 || random() % 2 == 0) continue;
      const auto count = static_cast<std::uint8_t>(1 + random() % std::min(posted[sem], 3U));
      posted[sem] -= count;
      s.waits[w] = {static_cast<std::uint8_t>(sem), count};
    }
    for (std::uint8_t &post : s.posts)
      if (random() % 2 == 0) {
        post = static_cast<std::uint8_t>(random() % posted.size());
        ++posted[post];
      }
    stream.push_back(sync(random() % Bench::kEngines, s));
  }
  return stream;
}

void expect_error(Bench &bench, ErrorCode code, std::uint32_t index) {
  EXPECT_EQ(bench.read(Csr::STATUS), kError | kIrq);
  EXPECT_EQ(bench.read(Csr::ERR_CODE), static_cast<std::uint32_t>(code));
  EXPECT_EQ(bench.read(Csr::ERR_INDEX), index);
}

/// Every command started once, on its engine, those of an engine in order.
void expect_all_started(const Bench &bench, const std::vector<isa::Command> &stream) {
  ASSERT_EQ(bench.started.size(), stream.size());
  std::array<std::int64_t, Bench::kEngines> last{-1, -1, -1};
  for (const Bench::Started &s : bench.started) {
    ASSERT_LT(s.index, stream.size());
    EXPECT_EQ(s.engine, stream[s.index].get(isa::field::ENGINE));
    EXPECT_GT(std::int64_t{s.index}, last[s.engine]);
    last[s.engine] = s.index;
  }
}

TEST(Registers, HoldWhatTheIsaSays) {
  Bench bench(kSeed, 0.3);
  EXPECT_EQ(bench.read(Csr::ID), 0x47570002U);
  EXPECT_EQ(bench.read(Csr::WATCHDOG), 65536U);
  for (const Csr reg : {Csr::STATUS, Csr::ERR_CODE, Csr::ERR_INDEX, Csr::RETIRED, Csr::RING_HEAD, Csr::MARK_TAG,
                        Csr::MARK_CYCLE_LO, Csr::MARK_CYCLE_HI})
    EXPECT_EQ(bench.read(reg), 0U) << "offset " << static_cast<unsigned>(reg);
  std::uint32_t built = 0; // CFG: 1, 2, 3, 4, and zeros
  for (const isa::CsrInfo &csr : isa::kCsrs) {
    if (!csr.built) continue;
    ++built;
    EXPECT_EQ(bench.read(csr.csr), built <= 4 ? built : 0U) << csr.name;
  }
  std::uint32_t value = 0x11223344;
  const Csr writable[] = {Csr::CMD_ADDR_LO,  Csr::CMD_ADDR_HI,  Csr::CMD_COUNT, Csr::DRAM_BASE_LO, Csr::DRAM_BASE_HI,
                          Csr::DRAM_SIZE_LO, Csr::DRAM_SIZE_HI, Csr::WATCHDOG,  Csr::RING_SIZE};
  for (Csr reg : writable)
    EXPECT_EQ(bench.read(reg), reg == Csr::WATCHDOG ? 65536U : 0U) << "after reset";
  for (Csr reg : writable)
    EXPECT_EQ(bench.write(reg, value += 0x01010101), Bench::kOkay);
  value = 0x11223344;
  for (Csr reg : writable)
    EXPECT_EQ(bench.read(reg), value += 0x01010101);
  bench.soft_reset();
  value = 0x11223344;
  for (Csr reg : writable)
    EXPECT_EQ(bench.read(reg), value += 0x01010101) << "soft reset keeps the configuration";
}

TEST(Registers, TakeSingleBytes) {
  Bench bench(kSeed);
  const auto count = static_cast<std::uint32_t>(Csr::CMD_COUNT);
  bench.write(count, 0xAABBCCDD);
  EXPECT_EQ(bench.write(count, 0x11223344, 0b0101), Bench::kOkay);
  EXPECT_EQ(bench.read(count).data, 0xAA22CC44U);
  EXPECT_EQ(bench.write(static_cast<std::uint32_t>(Csr::CTRL), 1, 0b1110), Bench::kOkay);
  EXPECT_EQ(bench.read(Csr::STATUS), 0U) << "a start whose byte is not written starts nothing";
}

TEST(Registers, RefuseWhatDoesNotExist) {
  Bench bench(kSeed, 0.3);
  std::set<std::uint32_t> readable, writable;
  for (const isa::CsrInfo &csr : isa::kCsrs) {
    if (csr.readable) readable.insert(static_cast<std::uint32_t>(csr.csr));
    if (csr.writable) writable.insert(static_cast<std::uint32_t>(csr.csr));
  }
  for (std::uint32_t i = 0; i < 2 * isa::kCounters.size(); ++i)
    readable.insert(isa::kCounterBase + 4 * i);
  for (std::uint32_t addr = 0; addr < 4096; ++addr) {
    EXPECT_EQ(bench.read(addr).resp, readable.count(addr) != 0 ? Bench::kOkay : Bench::kSlvErr) << "read of " << addr;
    EXPECT_EQ(bench.write(addr, 0), writable.count(addr) != 0 ? Bench::kOkay : Bench::kSlvErr) << "write of " << addr;
  }
}

TEST(Run, RetiresEveryCommandAndRaisesTheInterrupt) {
  for (std::uint64_t round = 0; round < 40; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " round " << round);
    Bench bench(kSeed + round, round % 2 == 0 ? 0 : 0.4);
    const std::vector<isa::Command> stream = random_stream(kSeed + round, 1 + 10 * round);
    bench.prepare(stream);
    ASSERT_EQ(bench.start(), Bench::kOkay);
    ASSERT_TRUE(bench.wait());
    EXPECT_EQ(bench.read(Csr::STATUS), kDone | kIrq);
    EXPECT_EQ(bench.read(Csr::ERR_CODE), 0U);
    EXPECT_EQ(bench.read(Csr::RETIRED), stream.size());
    expect_all_started(bench, stream);
    EXPECT_EQ(bench.counter(Counter::CYCLES), bench.run_cycles);
    EXPECT_EQ(bench.counter(Counter::LOAD_EMPTY), bench.run_cycles);
    EXPECT_EQ(bench.counter(Counter::FETCH_BEATS), stream.size() * 64 / Bench::kBus);
    EXPECT_EQ(bench.counter(Counter::FETCH_ACTIVE) + bench.counter(Counter::FETCH_DRAM) +
                  bench.counter(Counter::FETCH_BLOCKED) + bench.counter(Counter::FETCH_DONE),
              bench.run_cycles);
    EXPECT_EQ(bench.write(Csr::CTRL, 0), Bench::kOkay);
    EXPECT_EQ(bench.write(static_cast<std::uint32_t>(Csr::CTRL), 4, 0b1110), Bench::kOkay);
    EXPECT_EQ(bench.read(Csr::STATUS), kDone | kIrq) << "the bit is not set, or its byte not written";
    EXPECT_EQ(bench.write(Csr::CTRL, 4), Bench::kOkay);
    EXPECT_EQ(bench.read(Csr::STATUS), kDone);
    EXPECT_FALSE(bench.irq);
  }
}

TEST(Run, FollowsARunWithoutReset) {
  Bench bench(kSeed);
  for (std::uint64_t round = 0; round < 3; ++round) {
    const std::vector<isa::Command> stream = random_stream(round, 50);
    bench.prepare(stream);
    ASSERT_EQ(bench.start(), Bench::kOkay);
    ASSERT_TRUE(bench.wait());
    expect_all_started(bench, stream);
    EXPECT_EQ(bench.counter(Counter::CYCLES), bench.run_cycles) << "counters begin anew";
  }
  ASSERT_EQ(bench.soft_reset(), Bench::kOkay);
  EXPECT_EQ(bench.read(Csr::STATUS), 0U);
  EXPECT_EQ(bench.read(Csr::RETIRED), 0U);
  EXPECT_EQ(bench.counter(Counter::CYCLES), 0U);
}

TEST(Run, IsNotDisturbedByTheHost) {
  Bench bench(kSeed);
  bench.prepare({waiting_sync(0, 1)}, 0);
  ASSERT_EQ(bench.start(), Bench::kOkay);
  EXPECT_EQ(bench.start(), Bench::kSlvErr);
  EXPECT_EQ(bench.soft_reset(), Bench::kSlvErr);
  EXPECT_EQ(bench.write(Csr::CMD_COUNT, 5), Bench::kSlvErr);
  EXPECT_EQ(bench.read(Csr::CMD_COUNT), 1U);
  EXPECT_EQ(bench.read(Csr::STATUS), kBusy);
  EXPECT_FALSE(bench.wait(10000)) << "with WATCHDOG = 0 nothing ends the wait";
}

TEST(Errors, IllegalCommandStopsWithItsIndex) {
  for (std::uint32_t at : {0U, 1U, 17U, 39U}) {
    Bench bench(kSeed + at, 0.2);
    std::vector<isa::Command> stream = random_stream(kSeed, 40);
    const isa::Command good = stream[at];
    stream[at] = illegal();
    bench.prepare(stream);
    bench.start();
    ASSERT_TRUE(bench.wait());
    expect_error(bench, ErrorCode::ILLEGAL_OPCODE, at);
    for (const Bench::Started &s : bench.started)
      EXPECT_LT(s.index, at);
    EXPECT_EQ(bench.start(), Bench::kSlvErr) << "an error needs a reset first";
    EXPECT_EQ(bench.read(Csr::STATUS), kError | kIrq);
    ASSERT_EQ(bench.soft_reset(), Bench::kOkay);
    EXPECT_EQ(bench.read(Csr::STATUS), 0U);
    EXPECT_EQ(bench.read(Csr::ERR_CODE), 0U);
    stream[at] = good;
    bench.prepare(stream);
    ASSERT_EQ(bench.start(), Bench::kOkay);
    ASSERT_TRUE(bench.wait());
    EXPECT_EQ(bench.read(Csr::STATUS), kDone | kIrq);
    expect_all_started(bench, stream);
  }
}

TEST(Errors, ResetAndStartInOneWriteLeaveTheErrorState) {
  Bench bench(kSeed);
  bench.prepare({illegal()});
  bench.start();
  ASSERT_TRUE(bench.wait());
  bench.prepare({sync(0)});
  ASSERT_EQ(bench.write(Csr::CTRL, 3), Bench::kOkay);
  ASSERT_TRUE(bench.wait());
  EXPECT_EQ(bench.read(Csr::STATUS), kDone | kIrq);
}

TEST(Errors, BadStartIsReported) {
  Bench bench(kSeed);
  bench.prepare({});
  bench.start();
  ASSERT_TRUE(bench.wait(20));
  expect_error(bench, ErrorCode::BAD_START, 0);
  EXPECT_EQ(bench.memory.bursts(), 0U);
}

TEST(Errors, FetchErrorIsReported) {
  Bench bench(kSeed);
  const std::vector<isa::Command> stream = random_stream(kSeed, 40);
  bench.prepare(stream);
  bench.memory.fail(Bench::kStream + 64 * 21, 3);
  bench.start();
  ASSERT_TRUE(bench.wait());
  expect_error(bench, ErrorCode::FETCH_DECERR, 21);
}

TEST(Errors, OfOneCycleFollowTheDocumentedOrder) {
  for (int mask = 1; mask < 4; ++mask) {
    Bench bench(kSeed);
    bench.prepare({waiting_sync(0, 1)}, 0);
    bench.start();
    for (int i = 0; i < 100; ++i)
      bench.cycle();
    if ((mask & 1) != 0) bench.load_error = 5;
    if ((mask & 2) != 0) bench.store_error = 3;
    ASSERT_TRUE(bench.wait(20));
    if ((mask & 1) != 0)
      expect_error(bench, ErrorCode::READ_SLVERR, 5);
    else
      expect_error(bench, ErrorCode::WRITE_DECERR, 3);
  }
}

TEST(Errors, EndTheDispatchInTheSameCycle) {
  for (int cycles = 0; cycles < 60; ++cycles) {
    Bench bench(kSeed);
    bench.prepare(std::vector<isa::Command>(40, sync(2)));
    bench.quiet = false;
    bench.start();
    for (int i = 0; i < cycles; ++i)
      bench.cycle();
    bench.load_error = 0;
    EXPECT_FALSE(bench.wait(20));
    EXPECT_EQ(bench.queued_after_stop, 0U) << "an error " << cycles << " cycles after the start";
  }
}

TEST(Errors, AreReportedWhenTheBusIsQuiet) {
  Bench bench(kSeed);
  bench.prepare({illegal()});
  bench.quiet = false;
  bench.start();
  EXPECT_FALSE(bench.wait(1000));
  EXPECT_EQ(bench.read(Csr::STATUS), kBusy);
  bench.quiet = true;
  EXPECT_TRUE(bench.wait(3));
  expect_error(bench, ErrorCode::ILLEGAL_OPCODE, 0);
}

TEST(Errors, AreReportedAfterAWhileIfTheBusIsNeverQuiet) {
  Bench bench(kSeed);
  bench.prepare({illegal()}, 500);
  bench.quiet = false;
  bench.start();
  EXPECT_FALSE(bench.wait(500));
  EXPECT_TRUE(bench.wait(50));
  expect_error(bench, ErrorCode::ILLEGAL_OPCODE, 0);
}

TEST(Errors, SemaphoreOverflowNamesThePostingCommand) {
  Bench bench(kSeed);
  isa::Sync s;
  s.posts = {0, 0, 0};
  bench.prepare(std::vector<isa::Command>(21850, sync(2, s)));
  bench.start();
  ASSERT_TRUE(bench.wait());
  expect_error(bench, ErrorCode::SEM_OVERFLOW, 21845); // 3 x 21845 = 65535
}

TEST(Watchdog, NamesACommandThatWaitsForever) {
  Bench bench(kSeed);
  bench.prepare({sync(0), waiting_sync(1, 1), sync(2), waiting_sync(2, 1)}, 300);
  bench.start();
  EXPECT_FALSE(bench.wait(300));
  ASSERT_TRUE(bench.wait(100));
  expect_error(bench, ErrorCode::WATCHDOG, 1);
  EXPECT_EQ(bench.read(Csr::RETIRED), 2U);
}

TEST(Watchdog, NamesACommandThatNeverCompletes) {
  Bench bench(kSeed);
  bench.engine_hangs[2] = true;
  bench.prepare({sync(0), sync(2), sync(0), waiting_sync(1, 1)}, 300);
  bench.start();
  ASSERT_TRUE(bench.wait(1000));
  expect_error(bench, ErrorCode::WATCHDOG, 1);
}

TEST(Watchdog, NamesTheNextCommandWhenTheFetchHangs) {
  Bench bench(kSeed);
  std::vector<isa::Command> stream(40, sync(0));
  bench.prepare(stream, 300);
  bench.start();
  while (bench.started.size() < 8)
    bench.cycle();
  bench.bus_hangs = true;
  ASSERT_TRUE(bench.wait(2000)) << "the wait for a quiet bus must end, too";
  EXPECT_EQ(bench.read(Csr::STATUS), kError | kIrq);
  EXPECT_EQ(bench.read(Csr::ERR_CODE), static_cast<std::uint32_t>(ErrorCode::WATCHDOG));
  EXPECT_EQ(bench.read(Csr::ERR_INDEX), bench.started.size());
}

TEST(Watchdog, IsHeldOffByProgress) {
  Bench bench(kSeed, 0.9);
  const std::vector<isa::Command> stream = random_stream(kSeed, 200);
  bench.prepare(stream, 400);
  bench.start();
  ASSERT_TRUE(bench.wait());
  EXPECT_EQ(bench.read(Csr::STATUS), kDone | kIrq);
  EXPECT_GT(bench.run_cycles, 2000U);
}

} // namespace
