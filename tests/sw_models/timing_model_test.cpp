// The timing model's latencies, added up by hand from docs/timing-model.md, and its behaviour at errors. That they are
// those of the RTL is for the gate to show (tests/timing).
#include "sw_models/timing/timing_model.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace gradweave::timing {
namespace {

class TimingModel : public testing::Test {
protected:
  /// 8 x 8 array, 16-byte bus, 8 bytes a cycle: a beat takes the DRAM 2 cycles; latency 20.
  Machine npu = load_machine("configs/test8.toml");
  /// First command: fetch issues in cycle 1, its address is on the bus in cycle 3, four beats make a command.
  static constexpr std::uint64_t kFirstIssue = 3 + 4 * 2 + 20 + 2;
  static constexpr std::uint64_t kFirstStart = kFirstIssue + 1;

  static isa::Command sync(std::uint8_t engine, isa::Sync s = {}) {
    isa::Decoded d;
    d.op = isa::SyncCommand{engine};
    d.sync = s;
    return isa::encode(d);
  }
  static isa::Command dma(bool store, std::uint32_t rows, std::uint32_t cols, isa::Sync s = {}) {
    isa::DmaCommand c;
    c.store = store;
    c.dram_addr = 0x10000;
    c.pitch = 2 * cols;
    c.rows = rows;
    c.cols = cols;
    c.spm.pstride = rows;
    isa::Decoded d;
    d.op = c;
    d.sync = s;
    return isa::encode(d);
  }
  static isa::Command gemm(std::uint32_t m, std::uint32_t n, std::uint32_t k, bool acc, bool one_bank = false) {
    isa::GemmCommand g;
    g.m = m;
    g.n = n;
    g.k = k;
    g.acc = acc;
    g.a = {0, k, 0};
    g.b = {one_bank ? 40U : 128U, k, 0};
    if (acc) g.cin = {256, 64, 0};
    g.cout = {384, 64, 0};
    isa::Decoded d;
    d.op = g;
    return isa::encode(d);
  }
  static isa::Command add(std::uint8_t core, std::uint32_t m, std::uint32_t n) {
    isa::AddCommand a;
    a.core = core;
    a.m = m;
    a.n = n;
    a.a = {0, 64, 0};
    a.cin = {128, 64, 0};
    a.cout = {256, 64, 0};
    isa::Decoded d;
    d.op = a;
    return isa::encode(d);
  }
  static isa::Sync waits(std::uint8_t semaphore, std::uint8_t count = 1) {
    isa::Sync s;
    s.waits[0] = {semaphore, count};
    return s;
  }
  static isa::Sync posts(std::uint8_t semaphore) {
    isa::Sync s;
    s.posts[0] = semaphore;
    return s;
  }
};

TEST_F(TimingModel, ASyncTakesACycleOnceItIsFetchedAndChecked) {
  const RunResult r = run(npu, {sync(0)});
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.commands[0].issue, kFirstIssue);
  EXPECT_EQ(r.commands[0].start, kFirstStart);
  EXPECT_EQ(r.commands[0].done, kFirstStart + 1);
  EXPECT_EQ(r.cycles(), kFirstStart + 2);
}

TEST_F(TimingModel, CommandsAreDispatchedEveryTwoCyclesAndStartOneACycle) {
  const RunResult r = run(npu, {sync(0), sync(1), sync(2)});
  // The second and third command's words arrive every 8 cycles: later than dispatch needs.
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(r.commands[i].issue, kFirstIssue + 8 * i);
    EXPECT_EQ(r.commands[i].start, kFirstStart + 8 * i);
  }
}

TEST_F(TimingModel, ALoadIsDoneACycleAfterItsLastBeat) {
  const RunResult r = run(npu, {dma(false, 1, 8)});
  // Burst issued at + 1, read mux + 2, bus + 3; the beat takes 2 cycles and the latency.
  EXPECT_EQ(r.commands[0].done, kFirstStart + 3 + 2 + 20 + 1);
  EXPECT_EQ(r.counter(isa::Counter::READ_BEATS), 1U);
  EXPECT_EQ(r.counter(isa::Counter::READ_BYTES), 16U);
}

/// The fetch and the LOAD wait for the memory once each, up to the longest latency of a configuration.
TEST_F(TimingModel, EveryCycleOfALongLatencyCounts) {
  RunOptions options;
  options.watchdog = 0;
  const RunResult usual = run(npu, {dma(false, 1, 8)}, options);
  const std::uint32_t before = npu.memory.latency_cycles;
  for (std::uint32_t latency : {255U, 256U, 1000U, 1023U, 1024U, 4096U, 65'535U, 65'536U, 100'000U}) {
    npu.memory.latency_cycles = latency;
    const RunResult r = run(npu, {dma(false, 1, 8)}, options);
    EXPECT_EQ(r.commands[0].done, usual.commands[0].done + 2ULL * (latency - before)) << "latency " << latency;
  }
}

/// Rows far apart are a burst each: with room for all of them they wait for the memory together, else in rounds.
TEST_F(TimingModel, AThousandBurstsAreInFlightIfTheConfigurationSaysSo) {
  constexpr std::uint32_t kRows = 400, kLatency = 50'000;
  npu.memory.latency_cycles = kLatency;
  RunOptions options;
  options.watchdog = 0;
  isa::DmaCommand load;
  load.rows = kRows;
  load.cols = 1;
  load.pitch = 8192;
  isa::Decoded d;
  d.op = load;
  for (const auto &[outstanding, rounds] :
       {std::pair<std::uint32_t, std::uint64_t>{1024, 1}, {512, 1}, {256, 2}, {64, 7}}) {
    npu.outstanding = outstanding;
    const RunResult r = run(npu, {isa::encode(d)}, options);
    ASSERT_TRUE(r.ok());
    EXPECT_EQ((r.commands[0].done - r.commands[0].start) / kLatency, rounds) << outstanding << " outstanding";
  }
}

/// Only where pages begin matters to time: not which, nor how many lie between two rows.
TEST_F(TimingModel, PlacesAndPitchesOfAllBitsTakeTheSameTime) {
  npu.memory.size_bytes = std::uint64_t{1} << 40U;
  const auto moved = [&](bool store, std::uint64_t addr, std::uint32_t pitch) {
    isa::DmaCommand c;
    c.store = store;
    c.dram_addr = addr;
    c.rows = 3;
    c.cols = 700;
    c.pitch = pitch;
    c.spm.pstride = 3;
    isa::Decoded d;
    d.op = c;
    return run(npu, {isa::encode(d)});
  };
  for (const bool store : {false, true}) {
    const RunResult near = moved(store, 0x10A00, 0x600);
    ASSERT_TRUE(near.ok());
    for (unsigned bit = 20; bit < 40; ++bit) {
      const std::uint32_t far_rows = 0x600 + (bit < 32 ? 1U << bit : 0);
      const RunResult far = moved(store, 0x10A00 + (std::uint64_t{1} << bit), far_rows);
      ASSERT_TRUE(far.ok()) << "bit " << bit;
      EXPECT_EQ(far.commands[0].done, near.commands[0].done) << "bit " << bit;
      EXPECT_EQ(far.counters, near.counters) << "bit " << bit;
    }
    const std::uint64_t last = npu.memory.size_bytes - 2 * std::uint64_t{0xFFFFFFFE} - 1400;
    EXPECT_TRUE(moved(store, last, 0xFFFFFFFE).ok());
    EXPECT_EQ(moved(store, last + 2, 0xFFFFFFFE).error, isa::ErrorCode::DRAM_RANGE);
  }
}

TEST_F(TimingModel, AStoreIsDoneACycleAfterItsLastResponse) {
  const RunResult r = run(npu, {dma(true, 1, 16)});
  // Burst issued at + 1, first beat read at + 2 and on the bus at + 4, the second at + 5; 4 cycles of service. The
  // channel has turned around since it served the fetch.
  EXPECT_EQ(r.commands[0].done, kFirstStart + 5 + 4 + 20 + 1);
}

TEST_F(TimingModel, ABlockPassesTheArrayAndIsFlushed) {
  const std::uint64_t rows = npu.rows, cols = npu.cols;
  const RunResult r = run(npu, {gemm(8, 8, 5, false)});
  // Block starts at + 1, its first line is read at + 2 and enters the array at + 5; after ROWS - 1 steps the first
  // column is swapped; a cycle later the shadow is known to be zero and the null block starts, whose mark takes the
  // same way. Then ROWS + COLS + 2 cycles until all results are written, and one to done.
  const std::uint64_t null_block = kFirstStart + 5 + (rows - 1) + 1;
  const std::uint64_t pass = null_block + 1 + 3 + (rows - 1);
  EXPECT_EQ(r.commands[0].done, pass + rows + cols + 2 + 1);
  EXPECT_EQ(r.counter(isa::Counter::COMPUTE_ACTIVE), 5U);
  EXPECT_EQ(r.counter(isa::Counter::BLOCKS), 1U);
}

TEST_F(TimingModel, BlocksFollowAtTheBlockInterval) {
  const auto cycles = [&](std::uint32_t blocks, std::uint32_t k) {
    return run(npu, {gemm(8 * blocks, 8, k, false)}).cycles();
  };
  const std::uint64_t shortest = 2 * npu.rows + 4;
  EXPECT_EQ(cycles(4, 30) - cycles(3, 30), 30U);
  EXPECT_EQ(cycles(4, 3) - cycles(3, 3), shortest);
}

TEST_F(TimingModel, InitialValuesEnterBeforeAnIdleEngineComputes) {
  const RunResult without = run(npu, {gemm(8, 8, 5, false)}), with = run(npu, {gemm(8, 8, 5, true)});
  // The pass is decided when the block is seen, and ROWS cycles of shifting begin in the next.
  EXPECT_EQ(with.commands[0].done, without.commands[0].done + npu.rows + 1);
}

TEST_F(TimingModel, OperandsInOneBankTakeTwoCyclesALine) {
  const RunResult apart = run(npu, {gemm(8, 8, 30, false)}), together = run(npu, {gemm(8, 8, 30, false, true)});
  EXPECT_EQ(apart.counter(isa::Counter::COMPUTE_BANK), 0U);
  EXPECT_EQ(together.counter(isa::Counter::COMPUTE_BANK), 30U);
}

TEST_F(TimingModel, AnAddTakesTwoCyclesForARowOfAChunk) {
  const std::uint64_t rows = 5, chunks = 3; // 17 columns of 8
  const RunResult r = run(npu, {add(0, 5, 17), add(0, 1, 1), gemm(1, 1, 1, false)});
  ASSERT_TRUE(r.ok());
  const std::uint64_t first = 2 * rows * chunks + 4;
  EXPECT_EQ(r.commands[0].done, kFirstStart + first);
  EXPECT_EQ(r.commands[1].start, r.commands[0].done + 1) << "nothing starts before it is done";
  EXPECT_EQ(r.commands[1].done, r.commands[1].start + 2 + 4);
  EXPECT_EQ(r.commands[2].start, r.commands[1].done + 1);
  EXPECT_EQ(r.counter(isa::Counter::COMPUTE_ADD), first + 6);
}

TEST_F(TimingModel, AnAddWaitsForTheResultsBeforeIt) {
  const RunResult r = run(npu, {gemm(8, 8, 50, false), add(0, 1, 1)});
  EXPECT_EQ(r.commands[1].start, r.commands[0].done + 1);
}

TEST_F(TimingModel, CoresStartInTurnOneACycle) {
  npu.cores = 4;
  // The LOAD is done long after the others are issued. Its posts are three; the SYNC behind it posts the fourth a
  // cycle later. Core 1 had the turn before.
  isa::Sync three;
  three.posts = {0, 1, 2};
  const RunResult r = run(npu, {add(0, 1, 1), dma(false, 64, 8, three), sync(0, posts(3)), sync(2, waits(0)),
                                sync(3, waits(1)), sync(4, waits(2)), sync(5, waits(3))});
  ASSERT_TRUE(r.ok());
  const std::uint64_t posted = r.commands[1].done;
  EXPECT_EQ(r.commands[4].start, posted + 1) << "core 1: behind core 0, which started last";
  EXPECT_EQ(r.commands[5].start, posted + 2) << "core 2";
  EXPECT_EQ(r.commands[6].start, posted + 3) << "core 3, posted later";
  EXPECT_EQ(r.commands[3].start, posted + 4) << "core 0 has to wait";
}

TEST_F(TimingModel, CoresWorkAtTheSameTime) {
  npu.cores = 2;
  const RunResult r = run(npu, {add(0, 16, 16), add(1, 16, 16)});
  EXPECT_LT(r.commands[1].start, r.commands[0].done);
  EXPECT_EQ(r.counter(isa::Counter::COMPUTE_ADD), r.counter(isa::Counter::COMPUTE_ADD, 1));
  const auto of_core = [&](isa::Counter c) { return r.counter(c, 1); };
  EXPECT_EQ(of_core(isa::Counter::COMPUTE_ADD) + of_core(isa::Counter::COMPUTE_SEM) +
                of_core(isa::Counter::COMPUTE_EMPTY),
            r.cycles());
}

TEST_F(TimingModel, ABeatIsPaidForInAccesses) {
  const auto done = [&](std::uint32_t cols) { return run(npu, {dma(false, 1, cols)}).commands[0].done; };
  const std::uint64_t beat = done(8);
  npu.memory.access_bytes = 4;
  EXPECT_EQ(done(8), beat) << "a whole beat: four accesses of half a cycle";
  EXPECT_EQ(done(2), beat - 1) << "one access, rounded up to a cycle";
}

TEST_F(TimingModel, AStoreStartsBeforeALoadThatWaitsForTheSamePost) {
  isa::Sync both = posts(5);
  both.posts[1] = 6;
  const RunResult r = run(npu, {sync(0, waits(5)), sync(1, waits(6)), sync(2, both)});
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.commands[1].start, r.commands[2].done + 1);
  EXPECT_EQ(r.commands[0].start, r.commands[2].done + 2);
}

TEST_F(TimingModel, AnIllegalCommandEndsTheRunInPlaceOfItsIssue) {
  isa::Command broken = sync(0);
  broken.set(isa::field::OPCODE, 77);
  const RunResult r = run(npu, {dma(false, 8, 200), broken});
  EXPECT_EQ(r.error, isa::ErrorCode::ILLEGAL_OPCODE);
  EXPECT_EQ(r.error_index, 1U);
  EXPECT_EQ(r.cycles(), kFirstIssue + 8 + 1);
  EXPECT_EQ(r.commands[0].done, kNever) << "its data comes later";
  EXPECT_EQ(r.counter(isa::Counter::READ_BEATS), 0U);
}

TEST_F(TimingModel, BurstsThatAreUnderWayAtAnErrorEnd) {
  isa::Command broken = sync(0);
  broken.set(isa::field::OPCODE, 77);
  const RunResult one = run(npu, {dma(false, 1, 200)}), r = run(npu, {dma(false, 1, 200), broken});
  EXPECT_EQ(r.cycles() - 1 + r.stop_cycles, one.commands[0].done) << "the cycle behind its last beat";
  const RunResult many = run(npu, {dma(false, 8, 200)}), cut = run(npu, {dma(false, 8, 200), broken});
  EXPECT_GT(cut.stop_cycles, r.stop_cycles);
  EXPECT_LT(cut.cycles() - 1 + cut.stop_cycles, many.commands[0].done) << "not all of them were issued";
  EXPECT_EQ(one.stop_cycles, 0U);
  EXPECT_EQ(run(npu, {broken}).stop_cycles, 1U) << "nothing is under way";
  RunOptions options;
  options.watchdog = 60;
  const RunResult longer = run(npu, {dma(false, 1, 800), broken}),
                  expired = run(npu, {dma(false, 1, 800), broken}, options);
  EXPECT_GT(longer.stop_cycles, 60U);
  EXPECT_EQ(expired.cycles(), longer.cycles());
  EXPECT_EQ(expired.stop_cycles, 60U) << "the watchdog waits no longer";
}

TEST_F(TimingModel, AStreamThatCannotStartIsRefusedInTheFirstCycle) {
  RunOptions options;
  options.stream_addr = 32;
  const RunResult r = run(npu, {sync(0)}, options);
  EXPECT_EQ(r.error, isa::ErrorCode::BAD_START);
  EXPECT_EQ(r.cycles(), 1U);
}

TEST_F(TimingModel, AWaitThatNobodyPostsEndsWithTheWatchdog) {
  RunOptions options;
  options.watchdog = 1000;
  const RunResult r = run(npu, {sync(0), sync(1, waits(3))}, options);
  EXPECT_EQ(r.error, isa::ErrorCode::WATCHDOG);
  EXPECT_EQ(r.error_index, 1U);
  EXPECT_EQ(r.cycles(), r.commands[1].issue + 1000 + 1) << "the issue was the last progress";
  options.watchdog = 0;
  EXPECT_THROW(run(npu, {sync(1, waits(3))}, options), std::runtime_error);
}

/// A full semaphore gives all it holds, 255 at a time; a post more is an error.
TEST_F(TimingModel, SemaphoresHold65535) {
  npu.semaphores = 255;
  for (const std::uint8_t semaphore : {0, 254}) {
    isa::Sync thrice;
    thrice.posts = {semaphore, semaphore, semaphore};
    std::vector<isa::Command> stream(21845, sync(0, thrice));
    for (int i = 0; i < 257; ++i)
      stream.push_back(sync(0, waits(semaphore, 255)));
    EXPECT_TRUE(run(npu, stream).ok()) << int{semaphore};
    stream.push_back(sync(0, waits(semaphore)));
    EXPECT_EQ(run(npu, stream).error, isa::ErrorCode::WATCHDOG) << "nothing is left";
    stream.resize(21845);
    stream.push_back(sync(0, posts(semaphore)));
    const RunResult over = run(npu, stream);
    EXPECT_EQ(over.error, isa::ErrorCode::SEM_OVERFLOW);
    EXPECT_EQ(over.error_index, 21845U);
  }
}

TEST_F(TimingModel, StepsOfTheArrayAreProgress) {
  RunOptions options;
  options.watchdog = 50;
  const RunResult r = run(npu, {gemm(8, 8, 100, false)}, options);
  EXPECT_TRUE(r.ok()) << "the bus is silent for 100 cycles, the array is not";
}

/// The slowest memory that a configuration may have, and the latest one.
TEST_F(TimingModel, TheUsualWatchdogLeavesTimeForTheMemory) {
  EXPECT_EQ(usual_watchdog(npu), 65536U);
  const std::vector<isa::Command> stream{dma(false, 1, 8)};
  Machine late = npu, slow = npu;
  late.memory.latency_cycles = 100'000;
  slow.memory.bytes_num = 1;
  slow.memory.bytes_den = 100'000;
  for (const Machine &memory : {late, slow}) {
    EXPECT_GT(usual_watchdog(memory), longest_silence(memory));
    EXPECT_TRUE(run(memory, stream).ok());
    RunOptions options;
    options.watchdog = 65536;
    EXPECT_EQ(run(memory, stream, options).error, isa::ErrorCode::WATCHDOG);
  }
}

TEST_F(TimingModel, AWatchdogShorterThanTheMemorysAnswerExpires) {
  RunOptions options;
  options.watchdog = 15;
  const RunResult r = run(npu, {sync(0)}, options);
  EXPECT_EQ(r.error, isa::ErrorCode::WATCHDOG);
  EXPECT_EQ(r.cycles(), 3U + 15 + 1) << "the fetch's address was the last progress";
  options.watchdog = npu.rows + 4;
  EXPECT_EQ(run(npu, {sync(0)}, options).error, isa::ErrorCode::WATCHDOG);
  options.watchdog = npu.rows + 3;
  EXPECT_THROW(run(npu, {sync(0)}, options), std::invalid_argument) << "silences within a block are not followed";
}

} // namespace
} // namespace gradweave::timing
