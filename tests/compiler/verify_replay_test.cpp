// SyncReplay and HazardReplay by themselves, where the compiler's streams do not reach.
#include "compiler/verify/verify_hazards.hpp"
#include "compiler/verify/verify_sync.hpp"
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
std::string hazard(const std::vector<isa::Decoded> &commands) {
  const Machine npu = load_config("test8");
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
