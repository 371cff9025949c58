// AxiMemory with several ports: pieces of beats, one burst on all of them, faults and violations by port.
// As axi_memory_test.cpp, each case in a process of its own.
#include "tests/tb/axi_memory_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace gradweave::tb {
namespace {

/// Two ports of half a beat each.
class AxiMemoryPorts : public AxiMemoryTest {
protected:
  static constexpr unsigned kPort = kBus / 2;
  void make(const DeviceOptions &options = {}) {
    bench = std::make_unique<AxiBench>("bench", clock, dram(kBus), kBus, options, kPort);
    start();
  }
  AxiTestMaster &port(unsigned i) { return bench->masters.port[i]; }
  std::unique_ptr<AxiBench> bench;
};

TEST_F(AxiMemoryPorts, HaveTheirPiecesOfEachBeat) {
  make();
  const auto data = pattern(8 * kBus);
  bench->store.write(0x1000, data.data(), data.size());
  for (unsigned i = 0; i < 2; ++i)
    port(i).read(0x800, 8);
  ASSERT_TRUE(bench->finish());
  for (unsigned i = 0; i < 2; ++i)
    for (unsigned beat = 0; beat < 8; ++beat) {
      const auto first = data.begin() + beat * kBus + i * kPort;
      EXPECT_EQ(port(i).beats[beat].data, std::vector<std::uint8_t>(first, first + kPort)) << i << " " << beat;
      EXPECT_EQ(port(i).beats[beat].cycle, port(0).beats[beat].cycle);
    }
}

TEST_F(AxiMemoryPorts, WriteTheirPiecesOfEachBeat) {
  make();
  const auto data = pattern(8 * kBus, 5);
  for (unsigned i = 0; i < 2; ++i) {
    std::vector<std::uint8_t> piece;
    for (unsigned beat = 0; beat < 8; ++beat)
      piece.insert(piece.end(), data.begin() + beat * kBus + i * kPort, data.begin() + beat * kBus + (i + 1) * kPort);
    port(i).write(0x900, piece, 0, {}, i == 1);
  }
  ASSERT_TRUE(bench->finish());
  std::vector<std::uint8_t> got(data.size());
  bench->store.read(0x1200, got.data(), got.size());
  EXPECT_EQ(got, data);
}

TEST_F(AxiMemoryPorts, AreServedOnceTheBurstIsThereOnAll) {
  make();
  port(0).read(0x800, 2);
  bench->clock.run(300);
  EXPECT_TRUE(port(0).beats.empty());
  port(1).read(0x800, 2);
  ASSERT_TRUE(bench->finish());
  EXPECT_EQ(port(0).beats[0].cycle, port(1).reads_sent[0].cycle + 20 + 1);
  EXPECT_EQ(port(0).beats[1].cycle, port(1).beats[1].cycle);
}

TEST_F(AxiMemoryPorts, StallOnTheirOwnAndKeepTheirData) {
  DeviceOptions options;
  options.stress = {3, 0.5};
  make(options);
  const auto data = pattern(0x4000, 2);
  bench->store.write(0, data.data(), data.size());
  for (unsigned burst = 0; burst < 32; ++burst)
    for (unsigned i = 0; i < 2; ++i)
      port(i).read(burst * 0x100, 17);
  ASSERT_TRUE(bench->finish());
  unsigned apart = 0;
  for (std::size_t b = 0; b < port(0).beats.size(); ++b) {
    const std::size_t addr = b / 17 * 0x200 + b % 17 * kBus;
    for (unsigned i = 0; i < 2; ++i) {
      const auto first = data.begin() + static_cast<std::ptrdiff_t>(addr + i * kPort);
      ASSERT_EQ(port(i).beats[b].data, std::vector<std::uint8_t>(first, first + kPort)) << i << " " << b;
    }
    apart += port(0).beats[b].cycle != port(1).beats[b].cycle;
  }
  EXPECT_GT(apart, 100U);
}

TEST_F(AxiMemoryPorts, AFaultIsOfThePortWhoseBytesItHas) {
  DeviceOptions options;
  options.faults = {{BusFault::Kind::kDecErr, false, 0x1000 + kPort, 1}, {BusFault::Kind::kSlvErr, true, 0x2000, 1}};
  make(options);
  for (unsigned i = 0; i < 2; ++i) {
    port(i).read(0x800, 1);
    port(i).write(0x1000, pattern(kPort));
  }
  ASSERT_TRUE(bench->finish());
  EXPECT_EQ(port(0).beats[0].resp, AxiResp::kOkay);
  EXPECT_EQ(port(1).beats[0].resp, AxiResp::kDecErr);
  EXPECT_EQ(port(0).responses[0].resp, AxiResp::kSlvErr);
  EXPECT_EQ(port(1).responses[0].resp, AxiResp::kOkay);
}

TEST_F(AxiMemoryPorts, OutOfStepEndTheRun) {
  make();
  port(0).read(0x800, 2);
  port(1).read(0x800, 2);
  port(0).write(0x100, pattern(2 * kPort));
  port(1).write(0x100, pattern(kPort));
  try {
    bench->finish();
    FAIL() << "no exception";
  } catch (const AxiViolation &e) {
    EXPECT_NE(std::string(e.what()).find("a write of 2 beats at 0x100 on port 0, of 1 beats at 0x100 on port 1"),
              std::string::npos)
        << e.what();
  }
}

TEST_F(AxiMemoryPorts, AViolationNamesItsPort) {
  make();
  port(0).read(0xff0, 2);
  port(1).read(0xff8, 2); // crosses 4 KB
  try {
    bench->finish();
    FAIL() << "no exception";
  } catch (const AxiViolation &e) {
    EXPECT_NE(std::string(e.what()).find("port 1, channel AR: burst of 2 beats at 0xff8 crosses a 4 KB boundary"),
              std::string::npos)
        << e.what();
  }
}

} // namespace
} // namespace gradweave::tb
