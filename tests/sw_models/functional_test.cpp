// The functional model: whole programs against the golden products, every error, semaphores and counters.
#include "base/random/dice.hpp"
#include "base/random/random_data.hpp"
#include "isa/assembler.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/functional/functional.hpp"
#include "sw_models/numerics/golden.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gradweave {
namespace {

using isa::Counter;
using isa::ErrorCode;

constexpr std::uint64_t kCommandsAt = 0x8000;

/// A small NPU (lanes 10, 100 rows) with 64 KB of memory.
class Functional : public testing::Test {
protected:
  static Machine config() {
    Machine c;
    c.rows = 6;
    c.cols = 10;
    c.spm_bytes = 2000;
    c.spm_banks = 2;
    c.bus_bytes = 16;
    return c;
  }

  void start(const std::string &program) {
    const std::vector<isa::Command> stream = isa::assemble(program);
    memory_.write(kCommandsAt, stream.data(), stream.size() * sizeof(isa::Command));
    npu_.start(kCommandsAt, static_cast<std::uint32_t>(stream.size()));
  }
  void expect_end(const std::string &program, ErrorCode error, std::uint32_t index) {
    start(program);
    const FunctionalNpu::Status &s = npu_.run();
    EXPECT_EQ(s.error, error) << program;
    EXPECT_EQ(s.error_index, index) << program;
    EXPECT_EQ(s.done, error == ErrorCode::NONE);
  }
  template <typename T> std::vector<T> read(std::uint64_t addr, std::size_t count) const {
    std::vector<T> v(count);
    memory_.read(addr, v.data(), count * sizeof(T));
    return v;
  }

  DeviceMemory memory_{65536};
  FunctionalNpu npu_{config(), memory_};
};

TEST_F(Functional, LayerProductsEqualTheGoldenOnes) {
  constexpr std::uint32_t kM = 7;
  constexpr std::uint32_t kK = 13;
  constexpr std::uint32_t kN = 12;
  Dice dice(1);
  const DataMix mix{0.05, 0.001};
  std::vector<std::uint16_t> x(kM * kK);
  std::vector<std::uint16_t> w(kK * kN);
  std::vector<std::uint16_t> dy(kM * kN);
  for (auto *m : {&x, &w, &dy})
    for (auto &v : *m)
      v = random_bf16(mix, dice);
  memory_.write(0x0000, x.data(), x.size() * 2);
  memory_.write(0x1002, w.data(), w.size() * 2);
  memory_.write(0x2004, dy.data(), dy.size() * 2);
  // X at row 0 (two panels of 7), W at 14 (two of 13), dY at 40 (two of 7). dW is 13 x 12, fp32: 54 rows, in two
  // halves.
  expect_end(R"(
    LOAD bf16 dram=0x0000 pitch=26 rows=7 cols=13 spm=0 pstride=7 rot=3 post=1
    LOAD bf16 dram=0x1002 pitch=24 rows=13 cols=12 spm=14 pstride=13 rot=0 post=1
    LOAD bf16 dram=0x2004 pitch=24 rows=7 cols=12 spm=40 pstride=7 rot=9 post=1
    GEMM bf16 m=7 n=12 k=13 a=col:0:7:3 b=row:14:13:0 cout=54:7:1 wait=1:3 post=2   # Y = X W
    STORE bf16 dram=0x3000 pitch=24 rows=7 cols=12 spm=54 pstride=7 rot=1 wait=2:1 post=3
    GEMM bf16 m=7 n=13 k=12 a=col:40:7:9 b=col:14:13:0 cout=54:7:5 wait=3:1 post=2  # dX = dY W^T
    STORE bf16 dram=0x4000 pitch=26 rows=7 cols=13 spm=54 pstride=7 rot=5 wait=2:1 post=3
    GEMM fp32 m=13 n=10 k=3 a=row:0:7:3 b=row:40:7:9 cout=54:0:0 wait=3:1           # dW = X^T dY, two steps
    GEMM fp32 m=13 n=10 k=4 a=row:3:7:6 b=row:43:7:2 cin=54:0:0 cout=54:0:0 post=2
    STORE fp32 dram=0x5000 pitch=48 rows=13 cols=10 spm=54 rot=0 wait=2:1 post=3
    GEMM fp32 m=13 n=2 k=7 a=row:0:7:3 b=row:47:7:9 cout=54:0:0 wait=3:1 post=2
    STORE fp32 dram=0x5028 pitch=48 rows=13 cols=2 spm=54 rot=0 wait=2:1
  )",
             ErrorCode::NONE, 0);
  EXPECT_EQ(read<std::uint16_t>(0x3000, kM * kN), golden::forward(x.data(), w.data(), kM, kK, kN));
  EXPECT_EQ(read<std::uint16_t>(0x4000, kM * kK), golden::input_gradient(dy.data(), w.data(), kM, kK, kN));
  const std::vector<float> dw = golden::weight_gradient(x.data(), dy.data(), kM, kK, kN);
  const auto dw_bits = read<std::uint32_t>(0x5000, kK * kN);
  for (std::size_t i = 0; i < dw.size(); ++i)
    ASSERT_EQ(dw_bits[i], bits_of_fp32(dw[i])) << i;

  EXPECT_EQ(npu_.next_index(), 12U);
  EXPECT_EQ(npu_.counter(Counter::READ_BYTES), 2U * (x.size() + w.size() + dy.size()));
  EXPECT_EQ(npu_.counter(Counter::WRITE_BYTES), 2U * (kM * kN + kM * kK) + 4U * kK * kN);
  EXPECT_EQ(npu_.counter(Counter::FETCH_BEATS), 12U * 4);
  EXPECT_EQ(npu_.counter(Counter::BLOCKS), 4U + 4 + 3 + 3 + 3);
  EXPECT_EQ(npu_.counter(Counter::CYCLES), 0U);
}

TEST_F(Functional, BeatsCountWhatTheBusMoves) {
  // Rows of 10 bytes at 12: bytes 12-21 (two beats of 16), 28-37 (two), 44-53 (two), 60-69 (two).
  expect_end("LOAD bf16 dram=12 pitch=16 rows=4 cols=5 spm=0", ErrorCode::NONE, 0);
  EXPECT_EQ(npu_.counter(Counter::READ_BEATS), 8U);
  EXPECT_EQ(npu_.counter(Counter::READ_BYTES), 40U);
  expect_end("STORE fp32 dram=16 pitch=32 rows=2 cols=4 spm=0", ErrorCode::NONE, 0);
  EXPECT_EQ(npu_.counter(Counter::WRITE_BEATS), 2U);
  EXPECT_EQ(npu_.counter(Counter::READ_BEATS), 0U) << "start() clears the counters";
}

TEST_F(Functional, AWideBusFetchesSeveralCommandsInABeat) {
  Machine wide = config();
  wide.bus_bytes = 256;
  FunctionalNpu npu(wide, memory_);
  const std::vector<isa::Command> stream(5, isa::assemble("SYNC engine=0")[0]);
  memory_.write(0x80C0, stream.data(),
                stream.size() * sizeof(isa::Command)); // the last quarter of a beat, and one more
  npu.start(0x80C0, 5);
  npu.run();
  EXPECT_EQ(npu.counter(Counter::FETCH_BEATS), 2U);
}

TEST_F(Functional, ResultsBeyondThePartialTileStay) {
  for (std::uint32_t r = 0; r < 100; ++r)
    for (std::uint32_t l = 0; l < 10; ++l)
      npu_.scratchpad().at(r, l) = 0xABCD;
  expect_end("GEMM bf16 m=2 n=3 k=1 a=row:0:0:0 b=row:0:0:0 cout=50:0:9", ErrorCode::NONE, 0);
  int changed = 0;
  for (std::uint32_t r = 0; r < 100; ++r)
    for (std::uint32_t l = 0; l < 10; ++l)
      changed += npu_.scratchpad().at(r, l) != 0xABCD ? 1 : 0;
  EXPECT_EQ(changed, 6);
}

TEST_F(Functional, PitchOfOneRowIsIgnored) {
  memory_.write(64, "\x34\x12", 2);
  expect_end("LOAD bf16 dram=64 pitch=0xFFFFFFFF rows=1 cols=1 spm=9 rot=3", ErrorCode::NONE, 0);
  EXPECT_EQ(npu_.scratchpad().at(9, 3), 0x1234);
}

/// Rows that lie as far apart as a pitch can say, in the largest memory of a configuration.
TEST(FunctionalMemory, HasAllBitsOfAddressAndPitch) {
  constexpr std::uint64_t kSize = std::uint64_t{1} << 40U;
  Machine config = load_machine("configs/test8.toml");
  config.memory.size_bytes = kSize;
  DeviceMemory memory(kSize);
  FunctionalNpu npu(config, memory);
  const auto run = [&](const std::string &program) {
    const std::vector<isa::Command> stream = isa::assemble(program);
    memory.write(kCommandsAt, stream.data(), stream.size() * sizeof(isa::Command));
    npu.start(kCommandsAt, static_cast<std::uint32_t>(stream.size()));
    return npu.run().error;
  };
  for (unsigned bit = 20; bit < 40; ++bit) {
    const std::uint64_t from = (std::uint64_t{1} << bit) - 4, pitch = bit < 32 ? std::uint64_t{1} << bit : 0xFFFFFFFE;
    for (std::uint64_t row = 0; row < 3; ++row)
      for (std::uint16_t column = 0; column < 5; ++column) {
        const auto value = static_cast<std::uint16_t>(1000 * bit + 10 * row + column);
        memory.write(from + row * pitch + 2U * column, &value, 2);
      }
    ASSERT_EQ(run(fmt::format("LOAD bf16 dram={0} pitch={1} rows=3 cols=5 spm=0 rot=0\n"
                              "STORE bf16 dram={2} pitch={1} rows=3 cols=5 spm=0 rot=0",
                              from, pitch, from + 64)),
              ErrorCode::NONE);
    for (std::uint64_t row = 0; row < 3; ++row)
      for (std::uint16_t column = 0; column < 5; ++column) {
        std::uint16_t value = 0;
        memory.read(from + 64 + row * pitch + 2U * column, &value, 2);
        EXPECT_EQ(value, static_cast<std::uint16_t>(1000 * bit + 10 * row + column)) << "bit " << bit << " row " << row;
      }
  }
  EXPECT_EQ(run(fmt::format("LOAD bf16 dram={} pitch=0 rows=1 cols=5 spm=0", kSize - 10)), ErrorCode::NONE);
  EXPECT_EQ(run(fmt::format("LOAD bf16 dram={} pitch=0 rows=1 cols=5 spm=0", kSize - 8)), ErrorCode::DRAM_RANGE);
  EXPECT_EQ(run(fmt::format("LOAD bf16 dram={} pitch=0xFFFFFFFE rows=2 cols=5 spm=0", kSize - 0xFFFFFFFE - 8)),
            ErrorCode::DRAM_RANGE);
}

TEST_F(Functional, ErrorsAreReportedWithTheirIndex) {
  const std::string ok = "SYNC engine=0\nSYNC engine=1\n";
  expect_end(ok + "RAW 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", ErrorCode::ILLEGAL_OPCODE, 2);
  expect_end(ok + "SYNC engine=3", ErrorCode::ILLEGAL_FIELD, 2);
  expect_end(ok + "LOAD bf16 dram=0 rows=1 cols=1 spm=100", ErrorCode::SPM_RANGE, 2);
  expect_end(ok + "LOAD bf16 dram=1 rows=1 cols=1 spm=0", ErrorCode::DRAM_ALIGN, 2);
  expect_end(ok + "STORE bf16 dram=0x10000 rows=1 cols=1 spm=0", ErrorCode::DRAM_RANGE, 2);
}

TEST_F(Functional, NothingRunsAfterAnErrorUntilTheNextStart) {
  expect_end("SYNC engine=9\nSYNC engine=0", ErrorCode::ILLEGAL_FIELD, 0);
  npu_.step();
  EXPECT_EQ(npu_.next_index(), 0U);
  expect_end("SYNC engine=0", ErrorCode::NONE, 0);
}

TEST_F(Functional, WaitsTakeAllOrNothing) {
  start("SYNC engine=0 post=1,1,2\nSYNC engine=1 wait=1:2,2:1 post=3\nSYNC engine=2 wait=1:1");
  npu_.step();
  EXPECT_EQ(npu_.semaphore(1), 2);
  npu_.step();
  EXPECT_EQ(npu_.semaphore(1), 0);
  EXPECT_EQ(npu_.semaphore(2), 0);
  EXPECT_EQ(npu_.semaphore(3), 1);
  EXPECT_EQ(npu_.step().error, ErrorCode::WATCHDOG) << "a wait that nothing before it satisfies";
  EXPECT_EQ(npu_.status().error_index, 2U);
}

TEST_F(Functional, AnUnsatisfiedWaitTakesNothing) {
  expect_end("SYNC engine=0 post=1\nSYNC engine=1 wait=1:1,2:1", ErrorCode::WATCHDOG, 1);
  EXPECT_EQ(npu_.semaphore(1), 1);
}

/// Two panels; the sum of a tile with itself in place, then of two tiles, rounded.
TEST_F(Functional, AddSumsTilesElementByElement) {
  constexpr std::uint32_t kM = 3;
  constexpr std::uint32_t kN = 12;
  Dice dice(2);
  std::vector<std::uint32_t> a(kM * kN);
  std::vector<std::uint32_t> b(kM * kN);
  for (auto *m : {&a, &b})
    for (auto &v : *m)
      v = random_fp32({0.2, 0.05}, dice);
  memory_.write(0x0000, a.data(), a.size() * 4);
  memory_.write(0x1000, b.data(), b.size() * 4);
  expect_end(R"(
    LOAD fp32 dram=0x0000 pitch=48 rows=3 cols=12 spm=0 pstride=8 rot=3 post=1
    LOAD fp32 dram=0x1000 pitch=48 rows=3 cols=12 spm=20 pstride=6 rot=9 post=1
    ADD fp32 m=3 n=12 a=20:6:9 cin=20:6:9 cout=20:6:9 wait=1:2   # b + b
    ADD bf16 m=3 n=12 a=0:8:3 cin=20:6:9 cout=40:3:1 post=2
    STORE fp32 dram=0x2000 pitch=48 rows=3 cols=12 spm=20 pstride=6 rot=9 wait=2:1
    STORE bf16 dram=0x3000 pitch=24 rows=3 cols=12 spm=40 pstride=3 rot=1
  )",
             ErrorCode::NONE, 0);
  const auto twice = read<std::uint32_t>(0x2000, a.size());
  const auto sum = read<std::uint16_t>(0x3000, a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float b2 = add_fp32(fp32_from_bits(b[i]), fp32_from_bits(b[i]));
    EXPECT_EQ(twice[i], bits_of_fp32(b2)) << i;
    EXPECT_EQ(sum[i], bf16_from_fp32(add_fp32(fp32_from_bits(a[i]), b2))) << i;
  }
  EXPECT_EQ(npu_.counter(Counter::BLOCKS), 0U);
}

TEST_F(Functional, CoresShareTheScratchpadAndCountTheirBlocks) {
  Machine two = config();
  two.cores = 2;
  FunctionalNpu npu(two, memory_);
  const std::vector<isa::Command> stream = isa::assemble(R"(
    GEMM fp32 m=6 n=10 k=1 a=row:0:1:0 b=row:1:1:0 cout=2:12:0 post=1
    GEMM fp32 core=1 m=7 n=10 k=1 a=row:0:1:0 b=row:1:1:0 cout=20:14:0
    ADD fp32 core=1 m=6 n=10 a=2:12:0 cin=20:14:0 cout=20:14:0 wait=1:1
  )");
  memory_.write(kCommandsAt, stream.data(), stream.size() * sizeof(isa::Command));
  for (std::uint32_t lane = 0; lane < 10; ++lane)
    npu.scratchpad().at(0, lane) = npu.scratchpad().at(1, lane) = 0x3F80; // 1
  npu.start(kCommandsAt, static_cast<std::uint32_t>(stream.size()));
  ASSERT_TRUE(npu.run().done);
  EXPECT_EQ(npu.scratchpad().at(21, 0), 0x4000) << "1 + 1, the upper half";
  EXPECT_EQ(npu.counter(Counter::BLOCKS), 1U);
  EXPECT_EQ(npu.counter(Counter::BLOCKS, 1), 2U);
}

TEST_F(Functional, SemaphoresOverflowAbove65535) {
  Machine most = config();
  most.semaphores = 255;
  for (const int semaphore : {0, 5, 254}) {
    const isa::Command post = isa::assemble(fmt::format("SYNC engine=0 post={}", semaphore))[0];
    const std::vector<isa::Command> many(65537, post);
    DeviceMemory memory(8U << 20U);
    memory.write(0, many.data(), many.size() * sizeof(isa::Command));
    FunctionalNpu npu(most, memory);
    npu.start(0, 65535);
    EXPECT_TRUE(npu.run().done);
    EXPECT_EQ(npu.semaphore(static_cast<std::uint32_t>(semaphore)), 65535U);
    npu.start(0, 65537);
    EXPECT_EQ(npu.run().error, ErrorCode::SEM_OVERFLOW);
    EXPECT_EQ(npu.status().error_index, 65535U);
  }
}

TEST_F(Functional, BadStart) {
  const auto error = [&](std::uint64_t addr, std::uint32_t count) {
    npu_.start(addr, count);
    return npu_.run().error;
  };
  EXPECT_EQ(error(0x8020, 1), ErrorCode::BAD_START) << "not a multiple of 64";
  EXPECT_EQ(error(0x8000, 0), ErrorCode::BAD_START);
  EXPECT_EQ(error(0x10000, 1), ErrorCode::BAD_START) << "behind the window";
  EXPECT_EQ(error(0x10000 - 64, 2), ErrorCode::BAD_START);
  EXPECT_EQ(error(0x10000 - 64, 1), ErrorCode::ILLEGAL_OPCODE) << "inside; memory is zero there";
  npu_.set_dram_window(0x9000, 0x1000);
  EXPECT_EQ(error(0x8FC0, 1), ErrorCode::BAD_START) << "before the window";
  EXPECT_EQ(error(0x9000, 0xFFFFFFFF), ErrorCode::BAD_START);
}

TEST_F(Functional, AWindowBeyondTheMemoryGivesBusErrors) {
  npu_.set_dram_window(0, std::uint64_t{1} << 32U);
  expect_end("LOAD bf16 dram=0xFFFE rows=1 cols=2 spm=0", ErrorCode::READ_DECERR, 0);
  expect_end("STORE bf16 dram=0x10000 rows=1 cols=2 spm=0", ErrorCode::WRITE_DECERR, 0);
  npu_.start(0x10000, 1);
  EXPECT_EQ(npu_.run().error, ErrorCode::FETCH_DECERR);
}

} // namespace
} // namespace gradweave
