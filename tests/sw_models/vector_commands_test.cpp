// Commands of vector units on the functional model: elements, walks, types and edges by hand, and every fault.
#include "isa/assembler.hpp"
#include "isa/vector/assembler.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/functional/functional.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gradweave {
namespace {

using isa::ErrorCode;
using Floats = std::vector<float>;

constexpr std::uint64_t kStreamAt = 0x8000;

/// Ten lanes, 100 scratchpad rows.
class VectorCommands : public testing::Test {
protected:
  static Machine config() {
    Machine c;
    c.rows = 6;
    c.cols = 10;
    c.spm_bytes = 2000;
    c.spm_banks = 2;
    c.bus_bytes = 16;
    c.vector_groups = 2;
    return c;
  }

  /// PROGRAMs for a text's words from word 0 on.
  static std::string program(const std::string &text) {
    const isa::vector::Words words = isa::vector::assemble(text);
    std::string commands;
    for (std::size_t i = 0; i < words.size(); ++i)
      commands += fmt::format("PROGRAM at={} words=0x{:016X}\n", i, words[i]);
    return commands;
  }
  FunctionalNpu::Status run(const std::string &commands) {
    const std::vector<isa::Command> stream = isa::assemble(commands);
    memory_.write(kStreamAt, stream.data(), stream.size() * sizeof(isa::Command));
    npu_.start(kStreamAt, static_cast<std::uint32_t>(stream.size()));
    return npu_.run();
  }
  void expect_done(const std::string &commands) {
    const FunctionalNpu::Status s = run(commands);
    EXPECT_TRUE(s.done) << isa::kErrorNames[static_cast<std::size_t>(s.error)] << " at " << s.error_index;
  }

  /// A tile row by row, in fp32 or in bf16.
  void put(const isa::SpmTile &t, const std::vector<Floats> &rows, bool fp32) {
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      const auto cols = static_cast<std::uint32_t>(rows[i].size());
      std::vector<std::uint32_t> words(cols);
      std::vector<std::uint16_t> halves(cols);
      for (std::uint32_t j = 0; j < cols; ++j) {
        words[j] = bits_of_fp32(rows[i][j]);
        halves[j] = bf16_from_fp32(rows[i][j]);
      }
      fp32 ? npu_.scratchpad().write_row(t, i, cols, words.data())
           : npu_.scratchpad().write_row(t, i, cols, halves.data());
    }
  }
  Floats fp32_row(const isa::SpmTile &t, std::uint32_t i, std::uint32_t cols) {
    std::vector<std::uint32_t> words(cols);
    npu_.scratchpad().read_row(t, i, cols, words.data());
    Floats row(cols);
    for (std::uint32_t j = 0; j < cols; ++j)
      row[j] = fp32_from_bits(words[j]);
    return row;
  }
  Floats bf16_row(const isa::SpmTile &t, std::uint32_t i, std::uint32_t cols) {
    std::vector<std::uint16_t> halves(cols);
    npu_.scratchpad().read_row(t, i, cols, halves.data());
    Floats row(cols);
    for (std::uint32_t j = 0; j < cols; ++j)
      row[j] = fp32_from_bf16(halves[j]);
    return row;
  }

  DeviceMemory memory_{65536};
  FunctionalNpu npu_{config(), memory_};
};

/// A bias for each column, over two panels; the fp32 result has the sum, the bf16 one rounds it.
TEST_F(VectorCommands, WalkRowsAndRepeatARowInAllSteps) {
  put({0, 3, 4}, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12}}, false);
  put({20, 2, 9}, {{256, 0.5F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 257}}, true);
  expect_done(program("loop\n add r0, t0, t1\n or o0, r0, r0\n or o1, r0, r0\n") +
              "TILE t0=bf16:row:0:3:4:2x12+0 t1=fp32:row:20:2:9:1x12+0:step0 o0=fp32:row:40:4:0:2x12+0\n"
              "TILE o1=bf16:row:60:2:7:2x12+0\n"
              "VECTOR first=0 elements=12 steps=2\n");
  EXPECT_EQ(fp32_row({40, 4, 0}, 0, 12), (Floats{257, 2.5F, 3, 4, 5, 6, 7, 8, 9, 10, 11, 269}));
  EXPECT_EQ(fp32_row({40, 4, 0}, 1, 12), (Floats{255, -1.5F, -3, -4, -5, -6, -7, -8, -9, -10, -11, 245}));
  // 257 and 269 lie between bf16's even numbers: 256 and 258 (to 256), 268 and 270 (to 268).
  EXPECT_EQ(bf16_row({60, 2, 7}, 0, 12), (Floats{256, 2.5F, 3, 4, 5, 6, 7, 8, 9, 10, 11, 268}));
  EXPECT_EQ(npu_.counter(isa::Counter::VECTOR_READS), 2U * 2 * 2);
  EXPECT_EQ(npu_.counter(isa::Counter::VECTOR_WRITES), 2U * 2 * 2);
}

/// A lane is a row: the sum of each row, and its greatest element, in columns of a result.
TEST_F(VectorCommands, WalkColumnsAndKeepWhatAccumulates) {
  std::vector<Floats> rows;
  for (int i = 0; i < 13; ++i) // two strips, the second of three lanes
    rows.push_back({static_cast<float>(i), 100, static_cast<float>(-i), 0.25F});
  put({0, 0, 3}, rows, true);
  expect_done(program("or r0, 0.0, 0.0\n"
                      "or r1, 0xFF800000, 0xFF800000\n"
                      "loop\n add r0, r0, t0\n max r1, r1, t0\n"
                      "once\n or o0, r0, r0\n or o1, r1, r1\n") +
              "TILE t0=fp32:col:0:0:3:13x4+0 o0=fp32:col:40:0:5:13x1+0:step0 o1=bf16:col:70:0:0:13x1+2:step0\n"
              "VECTOR first=0 elements=13 steps=4\n");
  for (std::uint32_t i = 0; i < 13; ++i) {
    EXPECT_EQ(fp32_row({40, 0, 5}, i, 1), Floats{100.25F}) << i;
    EXPECT_EQ(bf16_row({70, 0, 0}, i, 3)[2], 100) << i;
  }
}

/// A head of a matrix: columns 8 to 12 of 14, which lie in two panels; nothing else changes.
TEST_F(VectorCommands, BeginInsideAPanel) {
  Floats row(14);
  for (std::size_t j = 0; j < row.size(); ++j)
    row[j] = static_cast<float>(j);
  put({10, 2, 6}, {row, row}, false);
  expect_done(program("loop\n mul o0, t0, 2.0\n") +
              "TILE t0=bf16:row:10:2:6:2x5+8 o0=bf16:row:10:2:6:2x5+8\nVECTOR first=0 elements=5 steps=2\n");
  EXPECT_EQ(bf16_row({10, 2, 6}, 0, 14), (Floats{0, 1, 2, 3, 4, 5, 6, 7, 16, 18, 20, 22, 24, 13}));
  EXPECT_EQ(bf16_row({10, 2, 6}, 1, 14), (Floats{0, 1, 2, 3, 4, 5, 6, 7, 16, 18, 20, 22, 24, 13}));
}

/// A scalar, and a value for each step in all lanes; the tile's other elements are no part of it.
TEST_F(VectorCommands, RepeatElements) {
  put({0, 0, 0}, {{1, 2}, {3, 4}, {5, 6}}, true);
  put({10, 0, 8}, {{10, 99}, {20, 99}, {30, 99}}, true);
  put({20, 0, 2}, {{0.5F}}, false);
  expect_done(program("loop\n add r0, t0, t1\n mul o0, r0, t2\n") +
              "TILE t0=fp32:row:0:0:0:3x2+0 t1=fp32:row:10:0:8:3x2+0:element0 t2=bf16:row:20:0:2:1x1+0:element0:step0\n"
              "TILE o0=fp32:row:40:0:0:3x2+0\nVECTOR first=0 elements=2 steps=3\n");
  EXPECT_EQ(fp32_row({40, 0, 0}, 0, 2), (Floats{5.5F, 6}));
  EXPECT_EQ(fp32_row({40, 0, 0}, 1, 2), (Floats{11.5F, 12}));
  EXPECT_EQ(fp32_row({40, 0, 0}, 2, 2), (Floats{17.5F, 18}));
}

/// Read by rows, written by columns; where elements are is told by INDEX.
TEST_F(VectorCommands, TransposeAndIndex) {
  put({0, 0, 0}, {{1, 2, 3}, {4, 5, 6}}, true);
  expect_done(program("loop\n or o0, t0, t0\n index r0, 1\n index r1, 2\n shl r1, r1, 4\n iadd o1, r0, r1\n") +
              "TILE t0=fp32:row:0:0:0:2x3+0 o0=fp32:col:20:0:1:3x2+0 o1=fp32:row:40:2:0:2x3+0\n"
              "VECTOR first=0 elements=3 steps=2\n");
  EXPECT_EQ(fp32_row({20, 0, 1}, 0, 2), (Floats{1, 4}));
  EXPECT_EQ(fp32_row({20, 0, 1}, 1, 2), (Floats{2, 5}));
  EXPECT_EQ(fp32_row({20, 0, 1}, 2, 2), (Floats{3, 6}));
  EXPECT_EQ(bits_of_fp32(fp32_row({40, 2, 0}, 1, 3)[2]), 0x10U) << "strip 0, step 1";
}

TEST_F(VectorCommands, KeepTilesAndProgramsUntilTheyAreReplaced) {
  put({0, 0, 0}, {{1, 2, 3}}, true);
  const std::string twice = program("loop\n add o0, t0, t0\n");
  expect_done(twice + "TILE t0=fp32:row:0:0:0:1x3+0 o0=fp32:row:20:0:0:1x3+0\nVECTOR first=0 elements=3 steps=1\n"
                      "TILE t0=fp32:row:20:0:0:1x3+0\nVECTOR first=0 elements=3 steps=1\n");
  EXPECT_EQ(fp32_row({20, 0, 0}, 0, 3), (Floats{4, 8, 12}));
  // The next run has the program, but no tiles.
  const FunctionalNpu::Status s = run("VECTOR first=0 elements=3 steps=1\n");
  EXPECT_EQ(s.error, ErrorCode::VECTOR_FAULT);
  EXPECT_EQ(s.error_word, static_cast<std::uint32_t>(isa::vector::FaultCode::TILE) << 16U | 1U);
  expect_done("TILE t0=fp32:row:20:0:0:1x3+0 o0=fp32:row:40:0:0:1x3+0\nVECTOR first=0 elements=3 steps=1\n");
  EXPECT_EQ(fp32_row({40, 0, 0}, 0, 3), (Floats{8, 16, 24}));
}

TEST_F(VectorCommands, StopWithTheFaultAndItsWord) {
  const auto expect_fault = [&](const std::string &commands, isa::vector::FaultCode code, std::uint32_t word) {
    const FunctionalNpu::Status s = run(commands);
    EXPECT_EQ(s.error, ErrorCode::VECTOR_FAULT) << commands;
    EXPECT_EQ(s.error_index, isa::assemble(commands).size() - 1) << commands;
    EXPECT_EQ(s.error_word, static_cast<std::uint32_t>(code) << 16U | word) << commands;
  };
  using isa::vector::FaultCode;
  const std::string tiles = "TILE t0=fp32:row:0:0:0:2x3+0 o0=fp32:row:20:0:0:2x3+0\n";
  const std::string copy = program("loop\n or o0, t0, t0\n") + tiles;
  expect_fault(copy + "VECTOR first=0 elements=4 steps=2\n", FaultCode::TILE, 1);
  expect_fault(copy + "VECTOR first=0 elements=3 steps=3\n", FaultCode::TILE, 1);
  expect_fault(program("loop\n or o0, t1, t1\n") + tiles + "VECTOR first=0 elements=3 steps=2\n", FaultCode::TILE, 1);
  expect_fault(program("loop\n or o0, r3, t0\n") + tiles + "VECTOR first=0 elements=3 steps=2\n", FaultCode::UNWRITTEN,
               2);
  expect_fault(copy + "VECTOR first=700 elements=3 steps=2\n", FaultCode::HEADER, 700);
  // A fault of the first words comes before those of tiles, one of an instruction behind them.
  expect_fault(program("loop\n or o0, r3, t1\n") + tiles + "VECTOR first=0 elements=3 steps=2\n", FaultCode::TILE, 1);
}

} // namespace
} // namespace gradweave
