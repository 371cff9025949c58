// Every operand of every command at the edges of the scratchpad, of macro-banks and of panels, with data; a tile that
// ends a row beyond is refused. And the extremes of semaphores.
#include "tests/tb/small_program.hpp"

#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <random>
#include <string>

namespace gradweave::tb {
namespace {

using isa::Decoded;

constexpr std::uint64_t kBefore = 0x4000, kAfter = 0x8000, kStream = 0x10000; ///< DRAM: scratchpad images, streams
constexpr std::uint32_t kLanes = 8;

/// A command with one operand of a chosen shape and place; the others lie anywhere.
struct Operand {
  const char *name;
  bool fp32;
  Decoded (*command)(std::uint32_t rows, std::uint32_t cols, const isa::SpmTile &tile);
};
std::ostream &operator<<(std::ostream &os, const Operand &o) { return os << o.name; }

Decoded transfer(bool store, bool fp32, std::uint32_t rows, std::uint32_t cols, const isa::SpmTile &tile) {
  isa::DmaCommand d;
  d.store = store;
  d.fp32 = fp32;
  d.pitch = 0x80;
  d.rows = rows;
  d.cols = cols;
  d.spm = tile;
  return {d, {}, 0};
}

/// A rows x cols tile that no operand under test shares a result with.
isa::SpmTile elsewhere(std::uint32_t rows) { return {200, 2 * rows, 1}; }

isa::GemmCommand product(std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  isa::GemmCommand g;
  g.m = m;
  g.n = n;
  g.k = k;
  g.a = elsewhere(k);
  g.b = elsewhere(k);
  g.cout = {300, 2 * m, 2};
  return g;
}

isa::AddCommand sum(std::uint32_t m, std::uint32_t n) {
  isa::AddCommand a;
  a.m = m;
  a.n = n;
  a.a = elsewhere(m);
  a.cin = elsewhere(m);
  a.cout = {300, 2 * m, 2};
  return a;
}

template <class Op, class Place> Decoded with(Op op, Place place) {
  place(op);
  return {op, {}, 0};
}

const Operand kOperands[] = {
    {"LoadBf16", false, [](auto r, auto c, const auto &t) { return transfer(false, false, r, c, t); }},
    {"LoadFp32", true, [](auto r, auto c, const auto &t) { return transfer(false, true, r, c, t); }},
    {"StoreBf16", false, [](auto r, auto c, const auto &t) { return transfer(true, false, r, c, t); }},
    {"StoreFp32", true, [](auto r, auto c, const auto &t) { return transfer(true, true, r, c, t); }},
    {"GemmA", false, [](auto r, auto c, const auto &t) { return with(product(c, 3, r), [&](auto &g) { g.a = t; }); }},
    {"GemmB", false, [](auto r, auto c, const auto &t) { return with(product(3, c, r), [&](auto &g) { g.b = t; }); }},
    {"GemmCin", true,
     [](auto r, auto c, const auto &t) {
       return with(product(r, c, 5), [&](auto &g) {
         g.acc = true;
         g.cin = t;
       });
     }},
    {"GemmCout", true,
     [](auto r, auto c, const auto &t) { return with(product(r, c, 5), [&](auto &g) { g.cout = t; }); }},
    {"GemmCoutBf16", false,
     [](auto r, auto c, const auto &t) {
       return with(product(r, c, 5), [&](auto &g) {
         g.out_bf16 = true;
         g.cout = t;
       });
     }},
    {"AddA", true, [](auto r, auto c, const auto &t) { return with(sum(r, c), [&](auto &a) { a.a = t; }); }},
    {"AddCin", true, [](auto r, auto c, const auto &t) { return with(sum(r, c), [&](auto &a) { a.cin = t; }); }},
    {"AddCout", true, [](auto r, auto c, const auto &t) { return with(sum(r, c), [&](auto &a) { a.cout = t; }); }}};

class NpuEdges : public testing::Test {
protected:
  void make() {
    DeviceOptions options;
    options.watchdog_cycles = 5000;
    device_ = std::make_unique<RtlDevice>(config_, options, make_npu_model());
    ASSERT_EQ(device_->allocate(kStream, 4096), 0U); // the device puts its streams behind it
  }

  /// Fills the scratchpad, executes the command, and compares what it left there, and in memory, with the functional
  /// model.
  void expect_equal(Decoded command, const std::string &what) {
    Decoded fill = transfer(false, false, config_.spm_rows(), kLanes, {0, config_.spm_rows(), 0});
    Decoded empty = transfer(true, false, config_.spm_rows(), kLanes, {0, config_.spm_rows(), 0});
    std::get<isa::DmaCommand>(fill.op).dram_addr = kBefore;
    std::get<isa::DmaCommand>(empty.op).dram_addr = kAfter;
    std::get<isa::DmaCommand>(fill.op).pitch = std::get<isa::DmaCommand>(empty.op).pitch = 2 * kLanes;
    fill.sync.posts[0] = command.sync.posts[0] = 0;
    command.sync.posts[0] = 1;
    command.sync.waits[0] = {0, 1};
    empty.sync.waits[0] = {1, 1};
    const std::vector<isa::Command> stream = SmallProgram::encode({fill, command, empty});
    std::vector<std::uint8_t> image(kStream), got(kStream);
    for (std::uint8_t &byte : image)
      byte = static_cast<std::uint8_t>(random_());
    device_->copy_in(0, image.data(), image.size());
    device_->submit(stream);
    ASSERT_TRUE(device_->wait().ok()) << what;
    device_->copy_out(0, got.data(), got.size());

    DeviceMemory memory(config_.memory.size_bytes);
    memory.write(0, image.data(), image.size());
    memory.write(kStream, stream.data(), stream.size() * isa::kCommandBytes);
    FunctionalNpu model(config_, memory);
    model.start(kStream, static_cast<std::uint32_t>(stream.size()));
    ASSERT_TRUE(model.run().done);
    memory.read(0, image.data(), image.size());
    for (std::uint64_t addr = 0; addr < kStream; ++addr)
      ASSERT_EQ(got[addr], image[addr]) << what << ": address 0x" << std::hex << addr;
  }

  const Machine config_ = load_machine("configs/test8.toml");
  std::unique_ptr<RtlDevice> device_;
  std::mt19937_64 random_{7};
};

class NpuOperandEdges : public NpuEdges, public testing::WithParamInterface<Operand> {};

TEST_P(NpuOperandEdges, HoldsTheRightBitsAtEveryEdgeAndIsRefusedBehindTheLast) {
  make();
  const std::uint32_t step = GetParam().fp32 ? 2 : 1, all = config_.spm_rows(), bank = all / config_.spm_banks;
  const std::pair<std::uint32_t, std::uint32_t> shapes[] = {{1, 1}, {4, kLanes}, {6, 2 * kLanes}, {3, 2 * kLanes + 5}};
  for (const auto &[rows, cols] : shapes)
    for (const isa::Lane rot : {0, 3, 7}) {
      const std::uint32_t extent = rows * step * ((cols - 1) / kLanes + 1); // panels adjacent
      for (const std::uint32_t row : {0U, bank - extent, bank - 2, all - extent})
        expect_equal(GetParam().command(rows, cols, {row, rows * step, rot}),
                     testing::PrintToString(rows) + " x " + testing::PrintToString(cols) + " at row " +
                         testing::PrintToString(row));
      const Decoded beyond = GetParam().command(rows, cols, {all - extent + step, rows * step, rot});
      device_->submit(SmallProgram::encode({beyond}));
      EXPECT_EQ(device_->wait().error, isa::ErrorCode::SPM_RANGE);
      device_->reset();
    }
}

INSTANTIATE_TEST_SUITE_P(Test8, NpuOperandEdges, testing::ValuesIn(kOperands),
                         [](const auto &p) { return std::string(p.param.name); });

TEST_F(NpuEdges, AWaitTakes255OfTheLastSemaphoreWhenTheyAreThere) {
  make();
  constexpr std::uint8_t kLast = 63;
  std::vector<Decoded> commands;
  Decoded post = SmallProgram::sync(0), wait = SmallProgram::sync(1), next = wait;
  post.sync.posts = {kLast, kLast, kLast};
  wait.sync.waits = {isa::Wait{kLast, 255}, isa::Wait{2, 1}, isa::Wait{}};
  wait.sync.posts[0] = 3;
  next.sync.waits[0] = {kLast, 1}; // 85 x 3 + 2 - 255 are left
  next.sync.waits[1] = {3, 1};
  for (int i = 0; i < 86; ++i)
    commands.push_back(post);
  commands.back().sync.posts[0] = 2;
  commands.push_back(wait);
  commands.push_back(next);
  device_->submit(SmallProgram::encode(commands));
  EXPECT_TRUE(device_->wait().ok());
}

/// A LOAD and a SYNC of the core post the same semaphore, 40 times and at different distances, so that some posts meet.
TEST_F(NpuEdges, PostsThatMeetAllCount) {
  make();
  constexpr std::uint8_t kRounds = 40;
  std::vector<Decoded> commands;
  for (std::uint8_t i = 0; i < kRounds; ++i) {
    Decoded load = transfer(false, false, 1, 1 + i % 8, {0, 1, 0}), core = SmallProgram::sync(2);
    load.sync.posts[0] = core.sync.posts[0] = 4;
    commands.push_back(load);
    for (int k = 0; k < 3; ++k)
      commands.push_back(core);
  }
  Decoded all = SmallProgram::sync(1);
  all.sync.waits[0] = {4, 4 * kRounds};
  commands.push_back(all);
  device_->submit(SmallProgram::encode(commands));
  EXPECT_TRUE(device_->wait().ok());
}

TEST_F(NpuEdges, ARowOfAPageIsABurstOf256Beats) {
  make();
  expect_equal(transfer(false, false, 1, 2048, {0, 1, 0}), "LOAD");
  Decoded store = transfer(true, false, 1, 2048, {0, 1, 0});
  std::get<isa::DmaCommand>(store.op).dram_addr = 0x1000;
  expect_equal(store, "STORE");
}

/// LOADs from and STOREs to places at each bit of an address, with rows as far apart as a pitch can say.
TEST(NpuFarMemory, HoldsTheRightBitsAtEachBitOfAnAddress) {
  Machine config = load_machine("configs/test8.toml");
  config.memory.size_bytes = std::uint64_t{1} << 40U;
  constexpr std::uint32_t kRows = 3, kCols = 5;
  RtlDevice device(config, {}, make_npu_model());
  ASSERT_EQ(device.allocate((std::uint64_t{1} << 40U) - (1U << 20U), 4096), 0U);
  std::mt19937_64 random(11);
  std::vector<Decoded> commands;
  struct Row {
    std::uint64_t addr;
    std::array<std::uint16_t, kCols> data;
  };
  std::vector<Row> expected;
  for (unsigned bit = 20; bit < 40; ++bit) {
    isa::DmaCommand d;
    d.dram_addr = (std::uint64_t{1} << bit) - 6;
    const std::uint32_t apart = 4096 * (bit - 19); // no two rows share a place
    d.pitch = bit < 32 ? (1U << bit) + apart : 0xFFFFFFFE - apart;
    d.rows = kRows;
    d.cols = kCols;
    d.spm = {4 * (bit - 20), kRows, 2};
    for (std::uint64_t row = 0; row < kRows; ++row) {
      Row r{d.dram_addr + row * d.pitch, {}};
      for (std::uint16_t &x : r.data)
        x = static_cast<std::uint16_t>(random());
      device.copy_in(r.addr, r.data.data(), sizeof(r.data));
      r.addr += 100;
      expected.push_back(r);
    }
    Decoded load{d, {}, 0};
    load.sync.posts[0] = 0;
    d.store = true;
    d.dram_addr = expected[expected.size() - kRows].addr;
    Decoded store{d, {}, 0};
    store.sync.waits[0] = {0, 1};
    commands.push_back(load);
    commands.push_back(store);
  }
  device.submit(SmallProgram::encode(commands));
  ASSERT_TRUE(device.wait().ok());
  for (const Row &r : expected) {
    Row got{r.addr, {}};
    device.copy_out(r.addr, got.data.data(), sizeof(got.data));
    EXPECT_EQ(got.data, r.data) << std::hex << r.addr;
  }
}

} // namespace
} // namespace gradweave::tb
