// SyncReplay and HazardReplay by themselves, where the compiler's streams do not reach.
#include "compiler/verify/verify_hazards.hpp"
#include "compiler/verify/verify_sync.hpp"
#include "isa/vector/assembler.hpp"
#include "tests/compiler/layer_run.hpp"

namespace gradweave::compiler {
namespace {

TEST(SyncReplay, ASemaphoreMayBePostedUntilItCouldOverflow) {
  Machine npu = load_config("test8");
  npu.queue_depth = 5;
  // Takers may lag behind by a queue and the command that runs, each by what a wait can take.
  const std::uint32_t most = 65535 - (5 + 1) * 255;
  isa::Decoded post;
  post.op = isa::SyncCommand{1};
  post.sync.posts[0] = 7;
  SyncReplay replay(npu);
  for (std::uint32_t i = 0; i < most; ++i)
    ASSERT_EQ(replay.step(post), "") << i;
  EXPECT_EQ(replay.step(post), "semaphore 7 can exceed 65535");
}

/// The hazard of the last command, if there is none before.
std::string hazard(const std::vector<isa::Decoded> &commands, const char *config = "test8") {
  const Machine npu = load_config(config);
  SyncReplay sync(npu);
  HazardReplay hazards(npu);
  std::string problem;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    EXPECT_EQ(problem, "") << i - 1;
    EXPECT_EQ(sync.step(commands[i]), "");
    problem = hazards.step(i, commands[i], sync);
  }
  return problem;
}

isa::GemmCommand gemm(std::uint32_t a, std::uint32_t cin, std::uint32_t cout) {
  isa::GemmCommand g;
  g.m = g.n = g.k = 8;
  g.acc = true;
  g.a = {a, 8, 0};
  g.b = {16, 8, 0};
  g.cin = {cin, 16, 0};
  g.cout = {cout, 16, 0};
  return g;
}

TEST(HazardReplay, AResultMayReplaceItsOwnInitialValuesButNotOverlapThem) {
  EXPECT_EQ(hazard({{gemm(0, 64, 64), {}, 0}}), "");
  EXPECT_EQ(hazard({{gemm(0, 64, 96), {}, 0}}), "");
  EXPECT_EQ(hazard({{gemm(0, 64, 66), {}, 0}}), "writes its result over its own initial values in scratchpad row 66");
}

/// A program that adds t0 and t1 in a loop, on tiles of 8 x 8 in fp32; t0 at row 0, t1 at 16.
std::vector<isa::Decoded> sum_into(std::uint32_t row, const isa::vector::Words &words) {
  isa::ProgramCommand program;
  program.count = static_cast<std::uint32_t>(words.size());
  std::copy(words.begin(), words.end(), program.words.begin());
  isa::TileCommand tiles;
  for (const auto &[place, slot, at] : {std::tuple{0U, 0U, 0U}, {1U, 1U, 16U}, {2U, isa::kOperandSlots, row}}) {
    isa::VectorTile &t = tiles.tiles[place];
    t.slot = slot;
    t.spm = {at, 16, 0};
    t.rows = t.cols = 8;
    t.fp32 = true;
  }
  isa::VectorCommand run;
  run.elements = run.steps = 8;
  return {{program, {}, 0}, {tiles, {}, 0}, {run, {}, 0}};
}

TEST(HazardReplay, AVectorMayReplaceWhatItReadsWhereItReadsIt) {
  const isa::vector::Words together = isa::vector::assemble("loop\n add o0, t0, t1\n");
  EXPECT_EQ(hazard(sum_into(64, together), "test8v2"), "");
  EXPECT_EQ(hazard(sum_into(0, together), "test8v2"), "");
  EXPECT_EQ(hazard(sum_into(16, together), "test8v2"), "");
  EXPECT_EQ(hazard(sum_into(2, together), "test8v2"), "writes its result over its own operand t0 in scratchpad row 2");
  const isa::vector::Words later =
      isa::vector::assemble("loop\n add r0, t0, t1\n add o0, r0, r0\nonce\nloop\n add r1, t1, t1\n");
  EXPECT_EQ(hazard(sum_into(0, later), "test8v2"), "");
  EXPECT_EQ(hazard(sum_into(16, later), "test8v2"), "writes its result over its own operand t1 in scratchpad row 16")
      << "read in a later section";
}

TEST(HazardReplay, AVectorWaitsForOtherEnginesAndTheyForIt) {
  const isa::vector::Words words = isa::vector::assemble("loop\n add o0, t0, t1\n");
  isa::DmaCommand load;
  load.fp32 = true;
  load.rows = load.cols = 8;
  load.spm = {16, 16, 0};
  std::vector<isa::Decoded> commands{{load, {}, 0}};
  for (const isa::Decoded &d : sum_into(64, words))
    commands.push_back(d);
  EXPECT_EQ(hazard(commands, "test8v2"), "reads scratchpad row 16 without waiting for command 0, which writes it");
  commands[0].sync.posts[0] = 3;
  commands[3].sync.waits[0] = {3, 1};
  EXPECT_EQ(hazard(commands, "test8v2"), "");
  isa::DmaCommand store = load;
  store.store = true;
  store.spm = {64, 16, 0};
  commands.push_back({store, {}, 0});
  EXPECT_EQ(hazard(commands, "test8v2"), "reads scratchpad row 64 without waiting for command 3, which writes it");
  commands[3].sync.posts[0] = 4;
  commands[4].sync.waits[0] = {4, 1};
  EXPECT_EQ(hazard(commands, "test8v2"), "");
  commands.push_back(commands[3]); // a unit's commands need no wait for one another
  commands.back().sync = {};
  EXPECT_EQ(hazard(commands, "test8v2"), "writes scratchpad row 64 without waiting for command 4, which reads it");
  isa::Decoded faulty = commands[3];
  faulty.sync = {};
  std::get<isa::VectorCommand>(faulty.op).steps = 9;
  commands.back() = faulty;
  EXPECT_EQ(hazard(commands, "test8v2"), "the program cannot run: word 1: t0 has 8 steps, and the command 9");
}

TEST(HazardReplay, WhatFollowsAnAddOnItsCoreNeedsNoWait) {
  isa::AddCommand add;
  add.m = add.n = 8;
  add.a = {32, 16, 0};
  add.cin = {48, 16, 0};
  add.cout = {0, 8, 0};
  add.out_bf16 = true;
  EXPECT_EQ(hazard({{gemm(0, 64, 64), {}, 0}, {add, {}, 0}, {gemm(0, 96, 96), {}, 0}}), "");
  EXPECT_EQ(hazard({{gemm(0, 64, 96), {}, 0}, {gemm(96, 64, 64), {}, 0}}),
            "reads scratchpad row 96 without waiting for command 0, which writes it");
}

TEST(HazardReplay, InitialValuesWaitForTheLastBlockOfATileThatOverlapsThem) {
  isa::GemmCommand two_blocks = gemm(0, 64, 64);
  two_blocks.m = 16;
  // The third block after the first writer's last one: its results are written by then.
  const isa::GemmCommand overlaps = gemm(0, 80, 112);
  EXPECT_EQ(hazard({{two_blocks, {}, 0}, {gemm(0, 128, 128), {}, 0}, {gemm(0, 160, 160), {}, 0}, {overlaps, {}, 0}}),
            "");
  EXPECT_EQ(hazard({{two_blocks, {}, 0}, {gemm(0, 128, 128), {}, 0}, {overlaps, {}, 0}}),
            "reads scratchpad row 80 without waiting for command 0, which writes it");
}

/// Products are forgotten once their results are gone, however many there are; others are not.
TEST(HazardReplay, ALongStreamIsCheckedLikeAShortOne) {
  isa::GemmCommand two_blocks = gemm(0, 64, 64);
  two_blocks.m = 16;
  const std::uint32_t rows = load_config("test8").spm_rows();
  for (std::uint32_t others = 2 * rows - 3; others <= 2 * rows + 1; ++others) {
    std::vector<isa::Decoded> commands(others, {gemm(0, 128, 128), {}, 0});
    for (std::size_t i = 0; i < commands.size(); ++i) // results of the third block before are written
      for (isa::SpmTile *tile :
           {&std::get<isa::GemmCommand>(commands[i].op).cin, &std::get<isa::GemmCommand>(commands[i].op).cout})
        tile->row += 32 * (i % 3);
    commands.front() = {gemm(0, 224, 224), {}, 0};
    commands.push_back({gemm(0, 224, 224), {}, 0}); // goes on with the first one's
    commands.push_back({two_blocks, {}, 0});
    commands.push_back({gemm(0, 256, 256), {}, 0});
    EXPECT_EQ(hazard(commands), "") << others;
    commands.push_back({gemm(0, 80, 112), {}, 0});
    EXPECT_EQ(hazard(commands), "reads scratchpad row 80 without waiting for command " + std::to_string(others + 1) +
                                    ", which writes it");
  }
}

TEST(HazardReplay, ResultsWaitForALoadOfTheSameRows) {
  isa::DmaCommand load;
  load.spm = {64, 16, 0};
  load.rows = load.cols = 8;
  load.fp32 = true;
  EXPECT_EQ(hazard({{load, {}, 0}, {gemm(0, 32, 64), {}, 0}}),
            "writes scratchpad row 64 without waiting for command 0, which writes it");
}

} // namespace
} // namespace gradweave::compiler
