// The protocol checker of the test memory: each breach is noticed.
#include "axi_memory.hpp"

#include <gtest/gtest.h>

namespace {

using namespace gradweave::dma_test;

constexpr std::uint64_t kBase = 0x10000;

class AxiChecker : public testing::Test {
protected:
  Memory memory{kBase, 65536};
  AxiMemory axi{{16, 2, 3, 0, {}}, memory, 1};

  void cycle(const Address &ar, const Address &aw = {}, const WriteData &w = {}, bool ready = true) {
    axi.drive();
    if (!ready) axi.ar_ready = axi.aw_ready = axi.w_ready = false;
    axi.clock(ar, aw, w);
  }
  static Address at(std::uint64_t offset, std::uint8_t len) { return {true, true, kBase + offset, len}; }
  static WriteData beat(bool last, std::uint8_t value = 0) {
    WriteData w;
    w.valid = true;
    w.last = last;
    w.data[0] = value;
    w.strobe[0] = true;
    return w;
  }
  void expect_problem(const std::string &text) {
    ASSERT_EQ(axi.problems.size(), 1U);
    EXPECT_NE(axi.problems[0].find(text), std::string::npos) << axi.problems[0];
  }
};

TEST_F(AxiChecker, AcceptsLegalTraffic) {
  cycle(at(0, 255), at(4096 - 32, 1));
  cycle({}, {}, beat(false, 1));
  cycle({}, {}, beat(true, 2));
  for (int i = 0; i < 300; ++i)
    cycle({});
  EXPECT_TRUE(axi.problems.empty());
  EXPECT_TRUE(axi.idle());
  EXPECT_EQ(memory.read(kBase + 4096 - 32), 1);
  EXPECT_EQ(memory.read(kBase + 4096 - 16), 2);
}

TEST_F(AxiChecker, SeesAnUnalignedBurst) {
  cycle(at(8, 0));
  expect_problem("not aligned");
}

TEST_F(AxiChecker, SeesABurstAcross4K) {
  cycle({}, at(4096 - 16, 1));
  expect_problem("crosses 4 KB");
}

TEST_F(AxiChecker, SeesAnAddressThatChangesWhileItWaits) {
  cycle(at(0, 0), {}, {}, false);
  cycle(at(16, 0));
  expect_problem("AR changed");
}

TEST_F(AxiChecker, SeesAnAddressThatIsWithdrawn) {
  cycle({}, at(0, 0), {}, false);
  cycle({});
  expect_problem("AW changed");
}

TEST_F(AxiChecker, SeesDataThatChangesWhileItWaits) {
  cycle({}, at(0, 0));
  cycle({}, {}, beat(true, 1), false);
  cycle({}, {}, beat(true, 2));
  expect_problem("W changed");
}

TEST_F(AxiChecker, SeesDataBeforeItsAddress) {
  cycle({}, {}, beat(true));
  expect_problem("W comes before");
}

TEST_F(AxiChecker, SeesAMissingWlast) {
  cycle({}, at(0, 0));
  cycle({}, {}, beat(false));
  expect_problem("WLAST is false");
}

TEST_F(AxiChecker, SeesTooManyBurstsOutstanding) {
  for (int i = 0; i < 3; ++i)
    cycle(at(0, 15));
  expect_problem("too many read bursts");
}

} // namespace
