// AxiMemory: data, timing against the DRAM's parameters, order, back-pressure, injected errors.
// All is in SystemC's default context, which a process elaborates once: ctest runs each case in a process of its own.
#include "tests/tb/axi_memory_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace gradweave::tb {
namespace {

TEST_F(AxiMemoryTest, ReadsTheMemoryBeatByBeat) {
  AxiBench bench("bench", clock, dram(kBus), kBus);
  start();
  const auto data = pattern(16 * kBus);
  bench.store.write(0x1000, data.data(), data.size());
  bench.master.read(0x1000, 16, 1);
  ASSERT_TRUE(bench.finish());
  ASSERT_EQ(bench.master.beats.size(), 16U);
  for (unsigned b = 0; b < 16; ++b) {
    EXPECT_EQ(bench.master.beats[b].data,
              std::vector<std::uint8_t>(data.begin() + b * kBus, data.begin() + (b + 1) * kBus));
    EXPECT_EQ(bench.master.beats[b].id, 1);
    EXPECT_EQ(bench.master.beats[b].last, b == 15);
  }
  EXPECT_TRUE(bench.slave.idle());
}

TEST_F(AxiMemoryTest, FirstBeatComesAfterTransferAndLatency) {
  AxiBench bench("bench", clock, dram(5, 1), kBus); // 16 bytes at 5 a cycle: 3.2 cycles a beat
  start();
  bench.master.read(0, 3);
  ASSERT_TRUE(bench.finish());
  const std::uint64_t taken = bench.master.reads_sent[0].cycle;
  EXPECT_EQ(bench.master.beats[0].cycle, taken + 4 + 20);
  EXPECT_EQ(bench.master.beats[1].cycle, taken + 7 + 20);
  EXPECT_EQ(bench.master.beats[2].cycle, taken + 10 + 20);
}

TEST_F(AxiMemoryTest, DeliversABeatEveryCycleAtFullBandwidth) {
  AxiBench bench("bench", clock, dram(kBus), kBus);
  start();
  for (unsigned i = 0; i < 20; ++i)
    bench.master.read(i * 64 * kBus, 64);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.master.beats.back().cycle - bench.master.beats.front().cycle, 20 * 64 - 1U);
}

TEST_F(AxiMemoryTest, FractionalBandwidthIsExactOverManyBursts) {
  AxiBench bench("bench", clock, dram(1000, 7), 256, {}, 128); // 150 GB/s at 1.05 GHz
  start();
  for (unsigned i = 0; i < 100; ++i)
    for (AxiTestMaster &port : bench.masters.port)
      port.read(i * 2048, 16);
  ASSERT_TRUE(bench.finish());
  const std::uint64_t taken = bench.master.reads_sent[0].cycle;
  EXPECT_EQ(bench.master.beats.back().cycle - taken, (1600ULL * 256 * 7 + 999) / 1000 + 20);
}

TEST_F(AxiMemoryTest, ReadsAndWritesShareTheBandwidth) {
  AxiBench bench("bench", clock, dram(kBus), kBus);
  start();
  const auto data = pattern(64 * kBus);
  for (unsigned i = 0; i < 20; ++i) {
    bench.master.read(i * 64 * kBus, 64);
    bench.master.write(0x80000 + i * 64 * kBus, data);
  }
  ASSERT_TRUE(bench.finish());
  const std::uint64_t end = std::max(bench.master.beats.back().cycle, bench.master.responses.back().cycle);
  const std::uint64_t cycles = end - bench.master.reads_sent[0].cycle;
  EXPECT_GE(cycles, 40 * 64U + 20);
  EXPECT_LE(cycles, 40 * 64U + 20 + 8 * 45); // at most a turnaround a burst
}

TEST_F(AxiMemoryTest, AnswersInOrderAcrossIds) {
  AxiBench bench("bench", clock, dram(kBus), kBus);
  start();
  for (unsigned i = 0; i < 8; ++i) {
    bench.master.read(i * kBus, 1, i & 1U);
    bench.master.write(0x1000 + i * kBus, pattern(kBus), i & 1U);
  }
  ASSERT_TRUE(bench.finish());
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.master.beats[i].id, i & 1U);
    EXPECT_EQ(bench.master.responses[i].id, i & 1U);
  }
}

TEST_F(AxiMemoryTest, WritesOnlyStrobedBytes) {
  AxiBench bench("bench", clock, dram(kBus), kBus);
  start();
  std::vector<bool> strobe(kBus, true);
  strobe[0] = strobe[5] = strobe[15] = false;
  const auto data = pattern(2 * kBus);
  bench.master.write(0x200, data, 0, strobe);
  ASSERT_TRUE(bench.finish());
  std::vector<std::uint8_t> got(2 * kBus);
  bench.store.read(0x200, got.data(), got.size());
  for (unsigned i = 0; i < 2 * kBus; ++i)
    EXPECT_EQ(got[i], strobe[i % kBus] ? data[i] : 0) << i;
}

TEST_F(AxiMemoryTest, AcceptsDataBeforeItsAddress) {
  AxiBench bench("bench", clock, dram(kBus), kBus);
  start();
  const auto data = pattern(4 * kBus);
  bench.master.write(0x340, data, 1, {}, true);
  ASSERT_TRUE(bench.finish());
  std::vector<std::uint8_t> got(data.size());
  bench.store.read(0x340, got.data(), got.size());
  EXPECT_EQ(got, data);
}

TEST_F(AxiMemoryTest, TransportAndDirectAccessAgree) {
  AxiBench direct("direct", clock, dram(kBus), kBus), transport("transport", clock, dram(kBus), kBus);
  transport.memory.refuse_direct_access();
  start();
  std::vector<bool> strobe(kBus, true);
  strobe[3] = false;
  for (AxiBench *bench : {&direct, &transport}) {
    const auto before = pattern(0x400, 9);
    bench->store.write(0, before.data(), before.size());
    bench->master.write(0x100, pattern(8 * kBus), 0, strobe);
  }
  ASSERT_TRUE(direct.finish() && transport.finish());
  for (AxiBench *bench : {&direct, &transport})
    bench->master.read(0, 0x400 / kBus);
  ASSERT_TRUE(direct.finish() && transport.finish());
  for (std::size_t i = 0; i < direct.master.beats.size(); ++i)
    EXPECT_EQ(direct.master.beats[i].data, transport.master.beats[i].data);
}

TEST_F(AxiMemoryTest, BackPressureIsAFunctionOfItsSeed) {
  DeviceOptions a, b;
  a.stress = {7, 0.4};
  b.stress = {8, 0.4};
  AxiBench first("first", clock, dram(kBus), kBus, a), again("again", clock, dram(kBus), kBus, a),
      other("other", clock, dram(kBus), kBus, b), calm("calm", clock, dram(kBus), kBus);
  start();
  const auto fill = pattern(0x4000, 3);
  for (AxiBench *bench : {&first, &again, &other, &calm}) {
    bench->store.write(0, fill.data(), fill.size());
    if (bench != &calm) bench->master.stall = Stall(5, 1, 0.3);
    for (unsigned i = 0; i < 16; ++i) {
      bench->master.read(i * 0x200, 17);
      bench->master.write(0x8000 + i * 0x200, pattern(5 * kBus, i));
    }
  }
  for (AxiBench *bench : {&first, &again, &other, &calm})
    ASSERT_TRUE(bench->finish());

  const auto cycles = [](const AxiBench &bench) {
    std::vector<std::uint64_t> c;
    for (const auto &beat : bench.master.beats)
      c.push_back(beat.cycle);
    for (const auto &response : bench.master.responses)
      c.push_back(response.cycle);
    return c;
  };
  EXPECT_EQ(cycles(first), cycles(again));
  EXPECT_NE(cycles(first), cycles(other));
  EXPECT_NE(cycles(first), cycles(calm));
  std::vector<std::uint8_t> expected(0x10000), got(0x10000);
  calm.store.read(0, expected.data(), expected.size());
  for (const AxiBench *bench : {&first, &other}) {
    bench->store.read(0, got.data(), got.size());
    EXPECT_EQ(got, expected);
    for (std::size_t i = 0; i < calm.master.beats.size(); ++i)
      EXPECT_EQ(bench->master.beats[i].data, calm.master.beats[i].data);
  }
}

struct FaultCase {
  BusFault::Kind kind;
  AxiResp resp;
};
class AxiMemoryFault : public AxiMemoryTest, public testing::WithParamInterface<FaultCase> {};

TEST_P(AxiMemoryFault, AnswersOnlyTheFaultyBeatsOfAReadWithAnError) {
  DeviceOptions options;
  options.faults = {{GetParam().kind, false, 0x220, kBus}};
  AxiBench bench("bench", clock, dram(kBus), kBus, options);
  start();
  bench.master.read(0x200, 4);
  bench.master.write(0x220, pattern(kBus)); // the fault is on reads
  ASSERT_TRUE(bench.finish());
  for (unsigned b = 0; b < 4; ++b)
    EXPECT_EQ(bench.master.beats[b].resp, b == 2 ? GetParam().resp : AxiResp::kOkay) << b;
  EXPECT_EQ(bench.master.responses[0].resp, AxiResp::kOkay);
}

TEST_P(AxiMemoryFault, AnswersAWriteThatTouchesTheFaultWithAnError) {
  DeviceOptions options;
  options.faults = {{GetParam().kind, true, 0x22c, 2}};
  AxiBench bench("bench", clock, dram(kBus), kBus, options);
  start();
  bench.master.write(0x200, pattern(4 * kBus));
  bench.master.write(0x300, pattern(4 * kBus));
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.master.responses[0].resp, GetParam().resp);
  EXPECT_EQ(bench.master.responses[1].resp, AxiResp::kOkay);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AxiMemoryFault,
                         testing::Values(FaultCase{BusFault::Kind::kSlvErr, AxiResp::kSlvErr},
                                         FaultCase{BusFault::Kind::kDecErr, AxiResp::kDecErr}),
                         [](const auto &p) { return p.param.resp == AxiResp::kSlvErr ? "SlvErr" : "DecErr"; });

TEST_F(AxiMemoryTest, AHangIsNeverAnsweredUntilReset) {
  DeviceOptions options;
  options.faults = {{BusFault::Kind::kHang, false, 0x200, 1}, {BusFault::Kind::kHang, true, 0x300, 1}};
  AxiBench bench("bench", clock, dram(kBus), kBus, options);
  start();
  bench.master.read(0x200, 1);
  bench.master.write(0x300, pattern(kBus));
  EXPECT_FALSE(bench.finish(5000));
  EXPECT_TRUE(bench.master.beats.empty());
  EXPECT_TRUE(bench.master.responses.empty());
  EXPECT_FALSE(bench.slave.idle());
  clock.reset();
  EXPECT_TRUE(bench.slave.idle());
  bench.master.expected_reads = bench.master.expected_writes = 0;
  bench.master.read(0x400, 2);
  EXPECT_TRUE(bench.finish());
}

TEST_F(AxiMemoryTest, BeyondTheMemoryIsADecodeError) {
  AxiBench bench("bench", clock, dram(kBus), kBus);
  start();
  bench.master.read(1 << 20, 1);
  bench.master.write(1 << 20, pattern(kBus));
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.master.beats[0].resp, AxiResp::kDecErr);
  EXPECT_EQ(bench.master.responses[0].resp, AxiResp::kDecErr);
}

TEST_F(AxiMemoryTest, AViolationEndsTheRunWithItsMessage) {
  AxiBench bench("bench", clock, dram(kBus), kBus);
  start();
  bench.master.read(0xff0, 2); // crosses 4 KB
  try {
    bench.finish();
    FAIL() << "no exception";
  } catch (const AxiViolation &e) {
    EXPECT_NE(std::string(e.what()).find("channel AR: burst of 2 beats at 0xff0 crosses a 4 KB boundary"),
              std::string::npos)
        << e.what();
  }
}

} // namespace
} // namespace gradweave::tb
