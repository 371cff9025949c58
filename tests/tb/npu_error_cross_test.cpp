// Errors crossed with what else the NPU is doing: every error of every opcode with each of its flags set and clear, and
// every error while all engines have a command in flight and full queues behind it. Expected codes of commands that
// dispatch refuses are those of isa::check_command().
#include "tests/tb/crowded_program.hpp"
#include "tests/tb/small_program.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace gradweave::tb {
namespace {

using isa::Decoded;
using isa::ErrorCode;
using Kind = BusFault::Kind;
using Crowd = CrowdedProgram;

constexpr std::uint32_t kWatchdog = 600;
constexpr std::uint64_t kStream = 0x100000;
constexpr std::uint64_t kSlv = 0x60000, kDec = 0x80000, kHang = 0xa0000,
                        kPage = 0x1000;       ///< faults, for reads and writes
constexpr std::uint32_t kFilling = 65535 / 3; ///< SYNCs of three posts that raise a semaphore to its maximum

class NpuErrorCross : public testing::Test {
protected:
  /// Faults of the three pages, and of the fetch of command `index` if it is not negative.
  void make(int index = -1, Kind kind = Kind::kSlvErr) {
    DeviceOptions options;
    for (const bool write : {false, true}) {
      options.faults.push_back({Kind::kSlvErr, write, kSlv, kPage});
      options.faults.push_back({Kind::kDecErr, write, kDec, kPage});
      options.faults.push_back({Kind::kHang, write, kHang, kPage});
    }
    if (index >= 0)
      options.faults.push_back(
          {kind, false, kStream + static_cast<std::uint64_t>(index) * isa::kCommandBytes, isa::kCommandBytes});
    options.watchdog_cycles = kWatchdog;
    device_ = std::make_unique<RtlDevice>(config_, options, make_npu_model());
    ASSERT_EQ(device_->allocate(kStream, 4096), 0U); // the device puts its streams behind it
  }

  void expect(const std::vector<Decoded> &commands, ErrorCode code, std::uint32_t index, const std::string &what) {
    device_->submit(SmallProgram::encode(commands));
    const RunStatus status = device_->wait();
    EXPECT_EQ(status.error, code) << what << ": " << isa::kErrorNames[static_cast<std::size_t>(status.error)];
    EXPECT_EQ(status.error_index, index) << what;
    device_->reset();
  }

  isa::Limits limits() const {
    return {8, config_.spm_rows(), config_.cores, config_.semaphores, 0, config_.memory.size_bytes};
  }

  const Machine config_ = load_machine("configs/test8.toml");
  std::unique_ptr<RtlDevice> device_;
};

/// All flags of a product, by the bits of `flags`: A_COL, B_COL, ACC, OUT_BF16.
isa::GemmCommand product(unsigned flags) {
  isa::GemmCommand g;
  g.m = g.n = g.k = 8;
  g.a = {0, 8, 0};
  g.b = {16, 8, 0};
  g.cout = {32, 16, 0};
  g.a_col = flags & 1U;
  g.b_col = flags & 2U;
  g.acc = flags & 4U;
  g.out_bf16 = flags & 8U;
  if (g.acc) g.cin = {48, 16, 0};
  return g;
}

/// A legal command of each opcode with each combination of its flags, or with all clear and all set.
std::vector<Decoded> all_flags(bool only_clear_and_set = false) {
  std::vector<Decoded> list;
  for (unsigned bits = 0; bits < 16; ++bits)
    if (!only_clear_and_set || bits == 0 || bits == 15) list.push_back({product(bits), {}, 0});
  for (const bool weights : {false, true}) // A_COL is the opcode's
    for (unsigned bits = 0; bits < 8; ++bits)
      if (!only_clear_and_set || bits == 0 || bits == 7)
        list.push_back({isa::ConvCommand{weights, product((bits << 1U) | (weights ? 0U : 1U)), {}}, {}, 0});
  for (const bool flag : {false, true}) {
    isa::AddCommand a;
    a.m = a.n = 8;
    a.a = {0, 16, 0};
    a.cin = {16, 16, 0};
    a.cout = {32, 16, 0};
    a.out_bf16 = flag;
    list.push_back({a, {}, 0});
    for (const bool store : {false, true}) {
      isa::DmaCommand d = Crowd::transfer(store, 0, 8, 0);
      d.fp32 = flag;
      d.spm.pstride = 16;
      list.push_back({d, {}, 0});
    }
  }
  return list;
}

isa::SpmTile &first_tile(Decoded &d) {
  if (auto *dma = std::get_if<isa::DmaCommand>(&d.op)) return dma->spm;
  if (auto *add = std::get_if<isa::AddCommand>(&d.op)) return add->a;
  if (auto *conv = std::get_if<isa::ConvCommand>(&d.op)) return conv->product.a;
  return std::get<isa::GemmCommand>(d.op).a;
}

TEST_F(NpuErrorCross, DispatchRefusesEveryOpcodeWithEveryFlag) {
  make();
  const std::vector<std::pair<ErrorCode, std::function<void(Decoded &)>>> breaks{
      {ErrorCode::ILLEGAL_FIELD, [](Decoded &d) { first_tile(d).rot = 8; }},
      {ErrorCode::SPM_RANGE, [&](Decoded &d) { first_tile(d).row = config_.spm_rows(); }},
      {ErrorCode::DRAM_ALIGN, [](Decoded &d) { std::get<isa::DmaCommand>(d.op).dram_addr = 1; }},
      {ErrorCode::DRAM_RANGE,
       [&](Decoded &d) { std::get<isa::DmaCommand>(d.op).dram_addr = config_.memory.size_bytes; }}};
  for (const Decoded &legal : all_flags())
    for (const auto &[code, change] : breaks) {
      if (!std::holds_alternative<isa::DmaCommand>(legal.op) &&
          (code == ErrorCode::DRAM_ALIGN || code == ErrorCode::DRAM_RANGE))
        continue;
      Decoded broken = legal;
      change(broken);
      ASSERT_EQ(isa::check_command(isa::encode(broken), limits()), code);
      expect({broken}, code, 0, std::string(isa::kErrorNames[static_cast<std::size_t>(code)]));
    }
  Decoded sync = SmallProgram::sync(0);
  sync.sync.posts[1] = 254;
  expect({sync}, ErrorCode::ILLEGAL_FIELD, 0, "SYNC");
  isa::Command unknown;
  device_->submit({unknown});
  EXPECT_EQ(device_->wait().error, ErrorCode::ILLEGAL_OPCODE);
}

TEST_F(NpuErrorCross, WaitsOfEveryOpcodeWithEveryFlagEndInTheWatchdog) {
  make();
  std::vector<Decoded> list = all_flags();
  list.push_back(SmallProgram::sync(2));
  for (Decoded &d : list) {
    d.sync.waits[2] = {Crowd::kNeverPosted, 255};
    expect({SmallProgram::sync(0), d}, ErrorCode::WATCHDOG, 1, "a wait that nothing satisfies");
  }
}

TEST_F(NpuErrorCross, PostsOfEveryOpcodeOverflowASemaphore) {
  make();
  Decoded full = SmallProgram::sync(0), last = full;
  full.sync.posts = {5, 5, 5};
  last.sync.posts[0] = 6;
  std::vector<Decoded> commands(kFilling, full);
  commands.push_back(last); // says that all posts before it are made
  std::vector<Decoded> list = all_flags(true);
  list.push_back(SmallProgram::sync(1));
  for (Decoded &d : list) {
    d.sync.waits[0] = {6, 1};
    d.sync.posts = {5, isa::kNoSemaphore, 5}; // the first error of a cycle is kept
    commands.push_back(d);
    expect(commands, ErrorCode::SEM_OVERFLOW, kFilling + 1, "a post at the maximum");
    commands.pop_back();
  }
}

TEST_F(NpuErrorCross, BusErrorsOfBothElementSizes) {
  make();
  const std::pair<std::uint64_t, ErrorCode> pages[] = {
      {kSlv, ErrorCode::READ_SLVERR}, {kDec, ErrorCode::READ_DECERR}, {kHang, ErrorCode::WATCHDOG}};
  for (const auto &[page, code] : pages)
    for (const bool store : {false, true})
      for (const bool fp32 : {false, true}) {
        isa::DmaCommand d = Crowd::transfer(store, page, 4, 0);
        d.fp32 = fp32;
        d.spm.pstride = 16;
        const ErrorCode expected = !store || code == ErrorCode::WATCHDOG ? code
                                   : code == ErrorCode::READ_SLVERR      ? ErrorCode::WRITE_SLVERR
                                                                         : ErrorCode::WRITE_DECERR;
        expect({{d, {}, 0}}, expected, 0, "a transfer alone");
      }
}

TEST_F(NpuErrorCross, DispatchRefusesACommandWhileAllEnginesAreCrowded) {
  make();
  std::vector<Decoded> commands = Crowd().commands(config_);
  const auto index = static_cast<std::uint32_t>(commands.size());
  const auto refused = [&](const isa::Command &c, ErrorCode code) {
    ASSERT_EQ(isa::check_command(c, limits()), code);
    std::vector<isa::Command> stream = SmallProgram::encode(commands);
    stream.push_back(c);
    device_->submit(stream);
    const RunStatus status = device_->wait();
    EXPECT_EQ(status.error, code);
    EXPECT_EQ(status.error_index, index);
    device_->reset();
  };
  isa::DmaCommand d = Crowd::transfer(false, 0, 8, 0);
  isa::Command unknown = isa::encode({d, {}, 0});
  unknown.set(isa::field::OPCODE, 77);
  refused(unknown, ErrorCode::ILLEGAL_OPCODE);
  const auto changed = [&](auto change) {
    isa::DmaCommand bad = d;
    change(bad);
    return isa::encode({bad, {}, 0});
  };
  refused(changed([](auto &bad) { bad.spm.rot = 8; }), ErrorCode::ILLEGAL_FIELD);
  refused(changed([&](auto &bad) { bad.spm.row = config_.spm_rows() - 7; }), ErrorCode::SPM_RANGE);
  refused(changed([](auto &bad) { bad.dram_addr = 3; }), ErrorCode::DRAM_ALIGN);
  refused(changed([&](auto &bad) { bad.dram_addr = config_.memory.size_bytes - 8; }), ErrorCode::DRAM_RANGE);
}

TEST_F(NpuErrorCross, BusErrorsWhileAllEnginesAreCrowded) {
  make();
  constexpr std::uint32_t kRows = 120;
  for (const auto &[page, read, write] : {std::tuple{kSlv, ErrorCode::READ_SLVERR, ErrorCode::WRITE_SLVERR},
                                          std::tuple{kDec, ErrorCode::READ_DECERR, ErrorCode::WRITE_DECERR}}) {
    Crowd load, store; // the last row of the shorter transfer lies in the page
    load.load_rows = store.store_rows = kRows;
    load.load_addr = store.store_addr = page - (kRows - 1) * Crowd::kPitch;
    expect(load.commands(config_), read, Crowd::kLoad, "the LOAD's last row");
    expect(store.commands(config_), write, Crowd::kStore, "the STORE's last row");
  }
  // SYNCs that never start are what is left of a crowd. A LOAD that hangs leaves less: fetch shares its channel.
  expect(Crowd().commands(config_), ErrorCode::WATCHDOG, Crowd::kFirstSync, "nothing posts");
  Crowd hanging;
  hanging.load_addr = hanging.store_addr = kHang;
  expect(hanging.commands(config_), ErrorCode::WATCHDOG, Crowd::kLoad, "no answer");
}

TEST_F(NpuErrorCross, ASemaphoreOverflowsWhileAllEnginesAreCrowded) {
  make();
  Decoded full = SmallProgram::sync(0);
  full.sync.posts = {5, 5, 5};
  std::vector<Decoded> commands(kFilling, full);
  Crowd crowd;
  crowd.load_post = 5;
  crowd.load_rows = 120;
  for (const Decoded &d : crowd.commands(config_))
    commands.push_back(d);
  expect(commands, ErrorCode::SEM_OVERFLOW, kFilling + Crowd::kLoad, "the LOAD's post");
}

/// The burst behind the crowd; 32 is the first command of a burst of 512 bytes.
class NpuFetchErrorCross : public NpuErrorCross, public testing::WithParamInterface<std::pair<int, Kind>> {};

TEST_P(NpuFetchErrorCross, StopsCrowdedOrIdleEngines) {
  const auto &[index, kind] = GetParam();
  make(index, kind);
  std::vector<Decoded> commands;
  if (index > 0) commands = Crowd().commands(config_);
  while (commands.size() < static_cast<std::size_t>(index) + 1)
    commands.push_back(Crowd::sync(0, Crowd::kNeverPosted));
  const ErrorCode code = kind == Kind::kSlvErr   ? ErrorCode::FETCH_SLVERR
                         : kind == Kind::kDecErr ? ErrorCode::FETCH_DECERR
                                                 : ErrorCode::WATCHDOG;
  expect(commands, code, static_cast<std::uint32_t>(index), "the fetch");
}

INSTANTIATE_TEST_SUITE_P(Test8, NpuFetchErrorCross,
                         testing::Values(std::pair{0, Kind::kSlvErr}, std::pair{0, Kind::kDecErr},
                                         std::pair{0, Kind::kHang}, std::pair{32, Kind::kSlvErr},
                                         std::pair{32, Kind::kDecErr}));

} // namespace
} // namespace gradweave::tb
