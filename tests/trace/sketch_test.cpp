// Sketches of runs: exact where there is room, and true where there is not.
#include "trace/timeline/sketch.hpp"

#include "isa/assembler.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave::runtime::timeline {
namespace {

/// Two loads feed a product, which is stored: the example of timeline_test.cpp, with loads that overlap.
struct SketchExample {
  Machine npu;
  std::vector<isa::Command> stream =
      isa::assemble("LOAD bf16 dram=0x0 pitch=8 rows=4 cols=4 spm=0 post=1\n"
                    "LOAD bf16 dram=0x40 pitch=8 rows=4 cols=4 spm=14 post=1\n"
                    "GEMM fp32 m=4 n=4 k=4 a=row:0:0:0 b=row:14:0:0 cout=20:0:0 wait=1:2 post=2\n"
                    "STORE fp32 dram=0x80 pitch=16 rows=4 cols=4 spm=20 wait=2:1 post=3\n");
  std::vector<timing::CommandTimes> times{{1, 2, 20}, {2, 3, 30}, {3, 31, 50}, {4, 51, 60}};

  SketchExample() {
    npu.rows = npu.cols = 4;
    npu.spm_bytes = 2 * 4 * 32;
    npu.spm_banks = 2;
    npu.bus_bytes = 4;
  }
  Run run() const {
    return {"layer", npu, stream, times, 61, [this](std::size_t i) { return label_command("layer", stream[i]); }};
  }
};

TEST(Sketch, DrawsAFewCommandsAsTheyAre) {
  const SketchExample example;
  const Sketch drawn = sketch(example.run(), {"X", "W", "Y", "Y"}, 100, 100);
  EXPECT_EQ(drawn.cycles, 61U);
  EXPECT_EQ(drawn.commands, 4U);
  EXPECT_EQ(drawn.grain, 0U);
  EXPECT_EQ(drawn.spm_rows, 32U);
  ASSERT_EQ(drawn.rows.size(), 3U); // by name: compute0, load, store
  const SketchRow &load = drawn.rows[1];
  EXPECT_EQ(load.engine, "load");
  EXPECT_EQ(load.tensors, (std::vector<std::string>{"X", "W"}));
  ASSERT_EQ(load.bars.size(), 2U);
  EXPECT_EQ(load.bars[0].begin, 2U);
  EXPECT_EQ(load.bars[0].end, 21U);
  EXPECT_EQ(load.bars[1].begin, 21U) << "a command that overlaps the one before begins where that ends";
  EXPECT_EQ(load.bars[1].end, 31U);
  EXPECT_EQ(load.bars[1].tensor, 1U);
  ASSERT_EQ(drawn.interval, 1U);
  ASSERT_EQ(drawn.occupied.size(), 62U);
  // A from cycle 2 on, B from 3 on, both until the product is done at 50; C, eight rows, from 31 until it is stored.
  EXPECT_EQ(drawn.occupied[1], 0U);
  EXPECT_EQ(drawn.occupied[2], 4U);
  EXPECT_EQ(drawn.occupied[30], 8U);
  EXPECT_EQ(drawn.occupied[31], 16U);
  EXPECT_EQ(drawn.occupied[51], 8U);
  EXPECT_EQ(drawn.occupied[61], 0U);
}

TEST(Sketch, RefusesImpossibleTimes) {
  SketchExample example;
  example.times[2].start = 40;
  example.times[2].done = 39;
  EXPECT_THROW(sketch(example.run(), {"X", "W", "Y", "Y"}, 100, 100), TimelineError);
}

TEST(Sketch, KeepsWhatThereIsHoweverFewBarsThereAreRoomFor) {
  SketchExample example;
  // The same commands over and over.
  const std::vector<isa::Command> stream = example.stream;
  const std::vector<timing::CommandTimes> times = example.times;
  std::vector<std::string> tensors{"X", "W", "Y", "Y"};
  for (std::uint64_t round = 1; round < 200; ++round)
    for (std::size_t i = 0; i < stream.size(); ++i) {
      example.stream.push_back(stream[i]);
      example.times.push_back({times[i].issue + 60 * round, times[i].start + 60 * round, times[i].done + 60 * round});
      tensors.push_back(tensors[i]);
    }
  auto run = example.run();
  run.cycles = 60 * 200 + 1;
  const Sketch whole = sketch(run, tensors, 100'000, 100'000);
  EXPECT_EQ(whole.grain, 0U);
  for (const std::size_t most : {400U, 60U, 7U, 3U, 0U}) {
    const Sketch drawn = sketch(run, tensors, most, 50);
    std::size_t bars = 0;
    for (std::size_t r = 0; r < drawn.rows.size(); ++r) {
      const SketchRow &row = drawn.rows[r];
      bars += row.bars.size();
      std::uint64_t commands = 0, end = 0;
      for (const SketchBar &bar : row.bars) {
        EXPECT_LE(end, bar.begin);
        EXPECT_LE(bar.begin, bar.end);
        EXPECT_LT(bar.tensor, row.tensors.size());
        end = bar.end;
        commands += bar.commands;
      }
      EXPECT_EQ(commands, whole.rows[r].bars.size()) << "no command is lost";
      EXPECT_EQ(row.bars.front().begin, whole.rows[r].bars.front().begin);
      EXPECT_EQ(end, whole.rows[r].bars.back().end);
    }
    EXPECT_LE(bars, std::max<std::size_t>(most, 3)) << "bars";
    EXPECT_GT(drawn.grain, 0U);
    EXPECT_LE(drawn.occupied.size(), 50U);
    EXPECT_EQ(*std::max_element(drawn.occupied.begin(), drawn.occupied.end()),
              *std::max_element(whole.occupied.begin(), whole.occupied.end()))
        << "the fullest moment is kept";
  }
}

} // namespace
} // namespace gradweave::runtime::timeline
