// The reset pin in any cycle of a run, and soft reset and start from every state that takes them. States last for
// single cycles, so the test drives the pins itself.
#include "tests/tb/npu_pins.hpp"

namespace gradweave::tb {
namespace {

constexpr std::uint32_t kStart = NpuPins::kStart, kSoftReset = NpuPins::kSoftReset;
constexpr std::uint32_t kDone = NpuPins::kDone, kError = NpuPins::kError;

class NpuReset : public testing::Test {
protected:
  void expect_works() {
    pins_.program(0x1000, {isa::encode({isa::SyncCommand{0}, {}, 0})});
    pins_.write(isa::Csr::CTRL, kStart);
    EXPECT_EQ(pins_.finish() & (kDone | kError), kDone);
    EXPECT_EQ(pins_.read(isa::Csr::RETIRED), 1U);
  }
  /// An empty stream ends in BAD_START.
  void fail() {
    pins_.write(isa::Csr::CMD_COUNT, 0);
    pins_.write(isa::Csr::CTRL, kStart);
    EXPECT_EQ(pins_.finish() & (kDone | kError), kError);
  }
  void soft_reset() {
    pins_.write(isa::Csr::CTRL, kSoftReset);
    EXPECT_EQ(pins_.finish() & (kDone | kError), 0U);
  }

  NpuPins pins_;
};

TEST_F(NpuReset, ThePinWorksInAnyCycleOfARun) {
  for (int cycles = 0; cycles < 40; ++cycles) {
    pins_.program(0x1000, {isa::encode({isa::SyncCommand{0}, {}, 0})});
    pins_.write(isa::Csr::CTRL, kStart);
    for (int i = 0; i < cycles; ++i)
      pins_.cycle();
    pins_.reset();
    EXPECT_EQ(pins_.read(isa::Csr::STATUS), 0U) << "reset " << cycles << " cycles after the start";
    EXPECT_EQ(pins_.read(isa::Csr::RETIRED), 0U);
    expect_works();
  }
}

TEST_F(NpuReset, ThePinWorksInAnyCycleOfAnErrorAndOfASoftReset) {
  for (int cycles = 0; cycles < 8; ++cycles) {
    pins_.write(isa::Csr::CMD_COUNT, 0);
    pins_.write(isa::Csr::CTRL, kStart);
    for (int i = 0; i < cycles; ++i)
      pins_.cycle();
    pins_.reset();
    EXPECT_EQ(pins_.read(isa::Csr::ERR_CODE), 0U);
    expect_works();
    pins_.write(isa::Csr::CTRL, kSoftReset);
    for (int i = 0; i < cycles; ++i)
      pins_.cycle();
    pins_.reset();
    expect_works();
  }
}

TEST_F(NpuReset, SoftResetAndStartWorkFromEveryRestingState) {
  soft_reset(); // idle
  expect_works();
  soft_reset(); // done
  expect_works();
  expect_works(); // a run after a run
  fail();
  soft_reset(); // error
  expect_works();
}

TEST_F(NpuReset, AnErrorIsLeftByAResetOnlyButThatMayComeWithTheStart) {
  fail();
  pins_.write(isa::Csr::CTRL, kStart);
  EXPECT_EQ(pins_.finish() & (kDone | kError), kError);
  pins_.program(0x1000, {isa::encode({isa::SyncCommand{0}, {}, 0})});
  pins_.write(isa::Csr::CTRL, kStart | kSoftReset);
  EXPECT_EQ(pins_.finish() & (kDone | kError), kDone);
  EXPECT_EQ(pins_.read(isa::Csr::RETIRED), 1U);
}

} // namespace
} // namespace gradweave::tb
