// Every error class of the RTL: the documented code and command index within a bounded number of cycles, with and
// without back-pressure, and an NPU that works again after reset.
#include "tests/tb/small_program.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>

namespace gradweave::tb {
namespace {

using P = SmallProgram;
using isa::ErrorCode;
using Kind = BusFault::Kind;

constexpr std::uint32_t kWatchdog = 2000;
constexpr std::uint64_t kBad = 0x8000;     ///< DRAM page that faults are put on
constexpr std::uint64_t kStream = 0x10000; ///< where the device puts the first stream
constexpr std::uint64_t kBadCommand = 6;   ///< index of the command whose fetch fails

using Commands = std::vector<isa::Decoded>;
using Stream = std::vector<isa::Command>;

struct FaultCase {
  std::string name;
  std::function<Stream()> stream;
  ErrorCode code;
  std::uint32_t index;
  std::vector<BusFault> faults;
  std::uint64_t bound = 5000; ///< cycles from start to interrupt
};
std::ostream &operator<<(std::ostream &os, const FaultCase &c) { return os << c.name; }

/// The small program with command `index` changed.
template <class Op> std::function<Stream()> changed(P::Index index, std::function<void(Op &)> change) {
  return [=] {
    Commands commands = P::commands();
    change(std::get<Op>(commands[index].op));
    return P::encode(commands);
  };
}
std::function<Stream()> dma(P::Index index, std::function<void(isa::DmaCommand &)> change) {
  return changed<isa::DmaCommand>(index, std::move(change));
}
std::function<Stream()> gemm(std::function<void(isa::GemmCommand &)> change) {
  return changed<isa::GemmCommand>(P::kGemm, std::move(change));
}
/// The small program with bits of a command's word replaced.
std::function<Stream()> word(P::Index index, unsigned word, std::uint32_t mask, std::uint32_t value) {
  return [=] {
    Stream stream = P::encode(P::commands());
    stream[index].words[word] = (stream[index].words[word] & ~mask) | value;
    return stream;
  };
}
/// The small program, then SYNCs up to the command that is not fetched, and one more.
Stream long_stream() {
  Commands commands = P::commands();
  while (commands.size() < kBadCommand + 2)
    commands.push_back(P::sync(0));
  return P::encode(commands);
}
/// A store whose wait nothing satisfies, behind work that completes.
Stream starved() {
  Commands commands = P::commands();
  commands[P::kStore].sync.waits[1] = {9, 1};
  commands.push_back(P::sync(0));
  return P::encode(commands);
}
/// 3 x 21845 posts fill a semaphore exactly; the next one is too many.
constexpr std::uint32_t kFillingSyncs = 65535 / 3;
Stream overflow() {
  isa::Decoded full = P::sync(0), one = P::sync(0);
  full.sync.posts = {5, 5, 5};
  one.sync.posts[0] = 5;
  Commands commands(kFillingSyncs, full);
  commands.push_back(one);
  return P::encode(commands);
}

std::vector<BusFault> on_page(bool write, Kind kind) { return {{kind, write, kBad, 4096}}; }
std::vector<BusFault> on_fetch(Kind kind) { return {{kind, false, kStream + kBadCommand * isa::kCommandBytes, 1}}; }
/// In the second half of a beat: of a bus of two ports only one has it.
std::vector<BusFault> on_byte(bool write, Kind kind) { return {{kind, write, kBad + 12, 1}}; }
const auto kLoadBad = [](isa::DmaCommand &d) { d.dram_addr = kBad; };

std::vector<FaultCase> cases() {
  const std::uint32_t rows = load_machine(GW_NPU).spm_rows();
  const std::uint64_t dram = load_machine(GW_NPU).memory.size_bytes;
  const std::uint64_t hang = 3 * kWatchdog + 5000;
  return {
      {"IllegalOpcode", word(P::kGemm, 0, 0xff, 9), ErrorCode::ILLEGAL_OPCODE, P::kGemm, {}},
      {"OpcodeZero", word(P::kLoadA, 0, 0xff, 0), ErrorCode::ILLEGAL_OPCODE, P::kLoadA, {}},
      {"ReservedBit", word(P::kLoadB, 15, 1, 1), ErrorCode::ILLEGAL_FIELD, P::kLoadB, {}},
      {"EngineOfOtherOpcode", word(P::kStore, 0, 0xff00, 0x0000), ErrorCode::ILLEGAL_FIELD, P::kStore, {}},
      {"ZeroRows", dma(P::kLoadA, [](auto &d) { d.rows = 0; }), ErrorCode::ILLEGAL_FIELD, P::kLoadA, {}},
      {"ZeroK", gemm([](auto &g) { g.k = 0; }), ErrorCode::ILLEGAL_FIELD, P::kGemm, {}},
      {"RotationTooLarge", gemm([](auto &g) { g.b.rot = 8; }), ErrorCode::ILLEGAL_FIELD, P::kGemm, {}},
      {"CoreThatIsNot", word(P::kGemm, 0, 0xff00, 0x0300), ErrorCode::ILLEGAL_FIELD, P::kGemm, {}},
      {"AddWithAReduction", word(P::kGemm, 0, 0xff, 5), ErrorCode::ILLEGAL_FIELD, P::kGemm, {}},
      {"SemaphoreTooLarge", word(P::kStore, 1, 0xff, 64), ErrorCode::ILLEGAL_FIELD, P::kStore, {}},
      {"SpmRangeOfLoad", dma(P::kLoadB, [=](auto &d) { d.spm.row = rows - 16; }), ErrorCode::SPM_RANGE, P::kLoadB, {}},
      {"SpmRangeOfGemm", gemm([=](auto &g) { g.cout.row = rows; }), ErrorCode::SPM_RANGE, P::kGemm, {}},
      {"DramRangeOfLoad",
       dma(P::kLoadA, [=](auto &d) { d.dram_addr = dram - 16; }),
       ErrorCode::DRAM_RANGE,
       P::kLoadA,
       {}},
      {"DramRangeOfStore",
       dma(P::kStore, [=](auto &d) { d.dram_addr = 1ULL << 40U; }),
       ErrorCode::DRAM_RANGE,
       P::kStore,
       {}},
      {"DramAlignAddress", dma(P::kStore, [](auto &d) { d.dram_addr += 2; }), ErrorCode::DRAM_ALIGN, P::kStore, {}},
      {"DramAlignPitch", dma(P::kLoadA, [](auto &d) { d.pitch += 1; }), ErrorCode::DRAM_ALIGN, P::kLoadA, {}},
      {"FetchSlvErr", long_stream, ErrorCode::FETCH_SLVERR, kBadCommand, on_fetch(Kind::kSlvErr)},
      {"FetchDecErr", long_stream, ErrorCode::FETCH_DECERR, kBadCommand, on_fetch(Kind::kDecErr)},
      {"ReadSlvErr", dma(P::kLoadB, kLoadBad), ErrorCode::READ_SLVERR, P::kLoadB, on_page(false, Kind::kSlvErr)},
      {"ReadDecErr", dma(P::kLoadB, kLoadBad), ErrorCode::READ_DECERR, P::kLoadB, on_page(false, Kind::kDecErr)},
      {"WriteSlvErr", dma(P::kStore, kLoadBad), ErrorCode::WRITE_SLVERR, P::kStore, on_page(true, Kind::kSlvErr)},
      {"WriteDecErr", dma(P::kStore, kLoadBad), ErrorCode::WRITE_DECERR, P::kStore, on_page(true, Kind::kDecErr)},
      {"ReadSlvErrOfAByte", dma(P::kLoadB, kLoadBad), ErrorCode::READ_SLVERR, P::kLoadB, on_byte(false, Kind::kSlvErr)},
      {"ReadDecErrOfAByte", dma(P::kLoadB, kLoadBad), ErrorCode::READ_DECERR, P::kLoadB, on_byte(false, Kind::kDecErr)},
      {"WriteSlvErrOfAByte", dma(P::kStore, kLoadBad), ErrorCode::WRITE_SLVERR, P::kStore,
       on_byte(true, Kind::kSlvErr)},
      {"WriteDecErrOfAByte", dma(P::kStore, kLoadBad), ErrorCode::WRITE_DECERR, P::kStore,
       on_byte(true, Kind::kDecErr)},
      {"ReadOfAByteHangs", dma(P::kLoadA, kLoadBad), ErrorCode::WATCHDOG, P::kLoadA, on_byte(false, Kind::kHang), hang},
      {"WriteOfAByteHangs", dma(P::kStore, kLoadBad), ErrorCode::WATCHDOG, P::kStore, on_byte(true, Kind::kHang), hang},
      {"NeverPosted", starved, ErrorCode::WATCHDOG, P::kStore, {}, hang},
      // The beat that hangs blocks the read channel for the data of the first load, too.
      {"FetchHangs", long_stream, ErrorCode::WATCHDOG, P::kLoadA, on_fetch(Kind::kHang), hang},
      {"ReadHangs", dma(P::kLoadA, kLoadBad), ErrorCode::WATCHDOG, P::kLoadA, on_page(false, Kind::kHang), hang},
      {"WriteHangs", dma(P::kStore, kLoadBad), ErrorCode::WATCHDOG, P::kStore, on_page(true, Kind::kHang), hang},
      {"SemaphoreOverflow", overflow, ErrorCode::SEM_OVERFLOW, kFillingSyncs, {}, 1000000},
      {"EmptyStream", [] { return Stream(); }, ErrorCode::BAD_START, 0, {}},
  };
}

class NpuFault : public testing::TestWithParam<std::tuple<FaultCase, double>> {};

std::unique_ptr<RtlDevice> make(const std::vector<BusFault> &faults, double stall) {
  DeviceOptions options;
  options.faults = faults;
  options.stress = {11, stall};
  options.watchdog_cycles = kWatchdog;
  auto device = std::make_unique<RtlDevice>(load_machine(GW_NPU), options, make_npu_model());
  EXPECT_EQ(device->allocate(kStream, 4096), 0U); // the device puts its streams behind it
  return device;
}

TEST_P(NpuFault, EndsInItsCodeAndTheNpuWorksAgainAfterReset) {
  const auto &[fault, stall] = GetParam();
  const auto device = make(fault.faults, stall);
  for (int round = 0; round < 2; ++round) {
    device->submit(fault.stream());
    const std::uint64_t started = device->cycle();
    const RunStatus status = device->wait();
    EXPECT_EQ(status.error, fault.code) << isa::kErrorNames[static_cast<std::size_t>(status.error)];
    EXPECT_EQ(status.error_index, fault.index);
    EXPECT_LE(device->cycle() - started, fault.bound);
    device->reset();
    P::expect_works(*device, 100 + static_cast<std::uint64_t>(round));
  }
}

INSTANTIATE_TEST_SUITE_P(Npu, NpuFault, testing::Combine(testing::ValuesIn(cases()), testing::Values(0.0, 0.3)),
                         [](const auto &p) {
                           return std::get<0>(p.param).name + (std::get<1>(p.param) > 0 ? "Stalled" : "");
                         });

/// Starts on registers that submit() would not write.
void expect_bad_start(std::uint64_t addr, std::uint32_t count) {
  const auto device = make({}, 0);
  device->write_csr(isa::Csr::CMD_ADDR_LO, static_cast<std::uint32_t>(addr));
  device->write_csr(isa::Csr::CMD_ADDR_HI, static_cast<std::uint32_t>(addr >> 32U));
  device->write_csr(isa::Csr::CMD_COUNT, count);
  device->start(count);
  EXPECT_EQ(device->wait().error, ErrorCode::BAD_START);
  device->reset();
  P::expect_works(*device, 1);
}

TEST(NpuBadStart, UnalignedStream) { expect_bad_start(kStream + 32, 4); }
TEST(NpuBadStart, StreamBeyondTheMemory) { expect_bad_start(1ULL << 33U, 4); }
TEST(NpuBadStart, StreamLeavesTheMemory) { expect_bad_start((1ULL << 30U) - 64, 2); }
TEST(NpuBadStart, StreamWrapsTheAddressSpace) { expect_bad_start(~std::uint64_t{63}, 2); }

} // namespace
} // namespace gradweave::tb
