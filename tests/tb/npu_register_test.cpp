// Every register over AXI4-Lite, and addresses of 64 bits on the memory bus.
#include "tests/tb/npu_pins.hpp"

#include "isa/counters.hpp"
#include "sw_models/config/npu_config.hpp"

#include <random>
#include <set>
#include <vector>

namespace gradweave::tb {
namespace {

using isa::Csr;

std::vector<Csr> configuration() {
  std::vector<Csr> all;
  for (const isa::CsrInfo &csr : isa::kCsrs)
    if (csr.writable && csr.readable) all.push_back(csr.csr);
  return all;
}

class NpuRegister : public testing::Test {
protected:
  NpuPins pins_;
};

TEST_F(NpuRegister, HoldsWhatIsWrittenInAnyOrderOfAddressAndData) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round)
    for (const Csr csr : configuration()) {
      const auto value = static_cast<std::uint32_t>(random());
      EXPECT_TRUE(pins_.write(csr, value, round % 5 - 2));
      EXPECT_EQ(pins_.read(csr), value);
    }
}

TEST_F(NpuRegister, TakesSingleBytes) {
  for (const Csr csr : configuration())
    for (unsigned strobe = 0; strobe < 16; ++strobe) {
      pins_.write(csr, 0x01020304);
      pins_.write(csr, 0xfffefdfc, 0, static_cast<std::uint8_t>(strobe));
      std::uint32_t mask = 0;
      for (unsigned byte = 0; byte < 4; ++byte)
        mask |= ((strobe >> byte) & 1U) ? 0xffU << (8 * byte) : 0;
      EXPECT_EQ(pins_.read(csr), (0x01020304U & ~mask) | (0xfffefdfcU & mask));
    }
}

TEST_F(NpuRegister, AnswersAddressesThatHaveNoneWithAnError) {
  std::set<std::uint32_t> readable;
  for (const isa::CsrInfo &csr : isa::kCsrs)
    if (csr.readable) readable.insert(static_cast<std::uint32_t>(csr.csr));
  for (std::uint32_t i = 0; i < 2 * isa::counter_count(1); ++i)
    readable.insert(isa::kCounterBase + 4 * i);
  for (std::uint32_t address = 0; address < 0x1000; ++address) {
    const bool exists = readable.count(address) != 0;
    EXPECT_EQ(pins_.read_register(static_cast<std::uint16_t>(address)).ok, exists) << std::hex << address;
  }
  EXPECT_FALSE(pins_.write(Csr::ID, 1));
  EXPECT_FALSE(pins_.write(Csr::STATUS, 1));
  EXPECT_FALSE(pins_.write(static_cast<Csr>(0x800), 1));
}

/// LOADs and STOREs of random rows anywhere: the first burst of each is at its address, and no bit of it is lost.
TEST_F(NpuRegister, AddressesHave64Bits) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    isa::DmaCommand d;
    d.store = round % 2;
    d.fp32 = round % 4 > 1;
    const std::uint64_t bit = std::uint64_t{1} << (random() % 64);
    constexpr std::uint64_t kRoom = std::uint64_t{1} << 36U; // for the rows behind the first
    d.dram_addr = std::min((random() & (bit - 1)) | bit, ~kRoom) & ~std::uint64_t{3};
    d.pitch = static_cast<std::uint32_t>(random()) & ~3U;
    d.rows = 1 + static_cast<std::uint32_t>(random() % 3);
    d.cols = 1 + static_cast<std::uint32_t>(random() % 40);
    d.spm = {static_cast<std::uint32_t>(random() % 64) * 2, 8, static_cast<std::uint8_t>(random() % 8)};
    isa::Decoded command{d, {}, static_cast<std::uint16_t>(random())};
    const std::uint64_t stream = std::min<std::uint64_t>(random(), ~kRoom) & ~std::uint64_t{63};
    pins_.program(stream, {isa::encode(command)});
    pins_.write(Csr::CTRL, NpuPins::kStart);
    ASSERT_EQ(pins_.finish(), NpuPins::kDone | 8U);
    const auto reads = pins_.take_reads(), writes = pins_.take_writes();
    ASSERT_FALSE(reads.empty());
    EXPECT_EQ(reads[0].addr, stream);
    const auto &moved = d.store ? writes : reads;
    const std::size_t first = d.store ? 0 : 1;
    ASSERT_GT(moved.size(), first);
    EXPECT_EQ(moved[first].addr, d.dram_addr & ~std::uint64_t{NpuPins::kBeatBytes - 1});
    EXPECT_EQ(pins_.read(Csr::RETIRED), 1U);
  }
}

/// Of a ring and of marks: what the NPU takes and what it refuses, and that the reset pin ends it all.
TEST_F(NpuRegister, KeepsARingToItsRules) {
  constexpr std::uint32_t kClose = 8, kTakeMark = 16, kRing = 32;
  std::vector<isa::Command> stream(kRing, isa::encode({isa::SyncCommand{0}, {}, 0}));
  stream[3] = isa::encode({isa::SyncCommand{static_cast<std::uint8_t>(isa::Engine::STORE), true}, {}, 4711});
  pins_.program(0, stream);
  pins_.write(Csr::CMD_COUNT, 0);
  pins_.write(Csr::RING_SIZE, kRing);
  EXPECT_FALSE(pins_.write(Csr::CTRL, kClose)) << "no run";
  EXPECT_FALSE(pins_.write(Csr::CTRL, kTakeMark)) << "no mark";
  EXPECT_TRUE(pins_.write(Csr::CTRL, NpuPins::kStart));
  EXPECT_FALSE(pins_.write(Csr::CMD_COUNT, kRing + 1)) << "beyond the ring";
  EXPECT_FALSE(pins_.write(Csr::RING_SIZE, 2 * kRing)) << "the tail alone may be written";
  EXPECT_TRUE(pins_.write(Csr::CMD_COUNT, kRing)) << "full";
  EXPECT_FALSE(pins_.write(Csr::CMD_COUNT, kRing - 1)) << "a tail does not fall";
  while (pins_.read(Csr::RETIRED) != kRing) {
  }
  EXPECT_EQ(pins_.read(Csr::STATUS), NpuPins::kBusy | 8U) << "a mark, and the ring is open";
  EXPECT_EQ(pins_.read(Csr::MARK_TAG), (1U << 16U) | 4711U);
  EXPECT_TRUE(pins_.write(Csr::CMD_COUNT, 2 * kRing)) << "another round, to an idle NPU";
  EXPECT_TRUE(pins_.write(Csr::CTRL, kClose));
  EXPECT_FALSE(pins_.write(Csr::CTRL, kClose)) << "twice";
  EXPECT_EQ(pins_.finish(), NpuPins::kDone | 8U);
  EXPECT_EQ(pins_.read(Csr::RETIRED), 2 * kRing);
  EXPECT_TRUE(pins_.write(Csr::CTRL, kTakeMark));
  pins_.write(Csr::CMD_COUNT, 0);
  EXPECT_TRUE(pins_.write(Csr::CTRL, NpuPins::kStart));
  pins_.reset(); // the ring is open
  EXPECT_EQ(pins_.read(Csr::STATUS), 0U);
  EXPECT_EQ(pins_.read(Csr::MARK_TAG), 0U);
}

} // namespace
} // namespace gradweave::tb
