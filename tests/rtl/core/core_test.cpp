// The compute engine alone: random GEMMs against the triple loop of the contract, and the documented times.
#include "core_bench.hpp"

namespace gradweave::core_test {
namespace {

TEST_F(GemmCore, RandomCommandsOneByOne) {
  for (int n = 0; n < cases(150); ++n) {
    top_ = 0;
    Tile out;
    isa::GemmCommand g = random_gemm(kMost, out, pick(0, 1) != 0);
    ASSERT_LE(top_, kSpmRows);
    core_.run({g});
    expect(out, fmt::format("case {}: m {} n {} k {} a_col {} b_col {} acc {} bf16 {}", n, g.m, g.n, g.k, g.a_col,
                            g.b_col, g.acc, g.out_bf16));
    if (HasFatalFailure()) return;
  }
}

TEST_F(GemmCore, RandomCommandsBackToBack) {
  for (int n = 0; n < cases(60); ++n) {
    top_ = 0;
    std::vector<Tile> outs(4);
    const std::vector<Op> commands = random_gemms(outs);
    ASSERT_LE(top_, kSpmRows);
    core_.run(commands);
    for (std::size_t i = 0; i < outs.size(); ++i) {
      expect(outs[i], fmt::format("case {} command {}", n, i));
      if (HasFatalFailure()) return;
    }
  }
}

/// A clear or reset in any cycle leaves nothing behind that a command begun at once would see.
TEST_F(GemmCore, ClearAndResetForgetWhatIsUnderWay) {
  for (int n = 0; n < cases(100); ++n) {
    top_ = 0;
    std::vector<Tile> outs(4);
    const std::vector<Op> commands = random_gemms(outs);
    ASSERT_LE(top_, kSpmRows);
    const std::uint32_t cycles = pick(1, 2 * (kRows + kCols) + 10);
    core_.run_and_forget({commands[0]}, cycles, n % 2 != 0);
    core_.run({commands.begin() + 1, commands.end()});
    for (std::size_t i = 1; i < outs.size(); ++i) {
      expect(outs[i], fmt::format("case {}, ended in cycle {}, command {}", n, cycles, i));
      if (HasFatalFailure()) return;
    }
  }
}

/// Partial sums of one tile through several commands, without waits: three blocks apart is enough.
TEST_F(GemmCore, PartialSumsThreeBlocksApartNeedNoWait) {
  for (std::uint32_t blocks : {3U, 4U, 6U}) {
    top_ = 0;
    std::uint32_t m = blocks == 3 ? 3 * kRows - 1 : 2 * kRows, n = blocks == 3 ? kCols : blocks / 2 * kCols;
    Tile c = place(m, n, true);
    fill(c);
    std::vector<Op> commands;
    for (int step = 0; step < 5; ++step) {
      isa::GemmCommand g;
      g.m = m, g.n = n, g.k = pick(1, 3), g.acc = true;
      Tile a = place(g.k, m, false), b = place(g.k, n, false);
      fill(a);
      fill(b);
      g.a = a.at, g.b = b.at, g.cin = g.cout = c.at;
      for (std::uint32_t k = 0; k < g.k; ++k)
        for (std::uint32_t i = 0; i < m; ++i)
          for (std::uint32_t j = 0; j < n; ++j)
            c(i, j) = mac(a(k, i), b(k, j), c(i, j));
      commands.push_back(g);
    }
    ASSERT_LE(top_, kSpmRows);
    core_.run(commands);
    expect(c, fmt::format("{} blocks", blocks));
  }
}

/// Long blocks run back to back: apart from filling and draining once, every cycle feeds the array. With one macro-bank
/// for both operands every line pair takes two cycles.
TEST_F(GemmCore, LongBlocksRunBackToBack) {
  std::uint32_t k = 5 * kLanes;
  isa::GemmCommand g;
  g.m = 3 * kRows, g.n = 2 * kCols, g.k = k;
  // Operands in macro-banks of their own; results anywhere, their writes have a port of their own.
  std::uint32_t bank = kSpmRows / 4;
  g.a = {0, k, 0}, g.b = {2 * bank, k, 0}, g.cout = {0, 6 * kRows, 0};
  for (const auto &[tile, cols] : {std::pair{g.a, g.m}, std::pair{g.b, g.n}})
    for (std::uint32_t row = 0; row < (cols + kLanes - 1) / kLanes * k; ++row)
      for (std::uint32_t lane = 0; lane < kLanes; ++lane)
        core_.put(false, tile.row + row, lane, 0x3F80);
  core_.busy_cycles_ = core_.active_ = core_.bank_ = 0;
  core_.run({g});
  std::uint64_t formula = std::uint64_t{6} * k;
  EXPECT_EQ(core_.active_, formula);
  std::uint64_t conflicts = GW_BANKS == 1 ? formula : 0;
  EXPECT_EQ(core_.bank_, conflicts);
  EXPECT_LE(core_.busy_cycles_, formula + conflicts + 2 * kRows + kCols + 16) << "block formula " << formula;
}

#if GW_BANKS >= 4 // two lines that share no bank span four
/// A line that is a column of its tile may cross into the next macro-bank. Two lines take two cycles if any of the
/// banks of one is one of the other's.
TEST_F(GemmCore, LinesAcrossBanksCollideInEither) {
  const std::uint32_t bank = kSpmRows / GW_BANKS;
  const auto conflicts = [&](std::uint32_t a_border, std::uint32_t b_border) {
    isa::GemmCommand g;
    g.m = kRows, g.n = kCols, g.k = kLanes;
    g.a_col = g.b_col = true;
    g.a = {a_border * bank - kRows / 2, kRows, 0}, g.b = {b_border * bank - kCols / 2, kCols, 0},
    g.cout = {0, 2 * kRows, 0};
    core_.bank_ = 0;
    core_.run({g});
    return core_.bank_;
  };
  EXPECT_EQ(conflicts(1, 1), kLanes);
  EXPECT_EQ(conflicts(1, 2), kLanes) << "A's upper bank is B's lower one";
  EXPECT_EQ(conflicts(2, 1), kLanes) << "A's lower bank is B's upper one";
  EXPECT_EQ(conflicts(1, 3), 0U);
  EXPECT_EQ(conflicts(3, 1), 0U);
}
#endif

/// Short blocks are paced by the shadow chain, at the interval that docs/microarchitecture.md gives. With one
/// macro-bank the first line pair takes two cycles, and so the block a cycle more.
TEST_F(GemmCore, ShortBlocksStartAtTheDocumentedInterval) {
  std::vector<std::uint64_t> cycles;
  for (std::uint32_t blocks : {4U, 8U}) {
    isa::GemmCommand g;
    g.m = blocks * kRows, g.n = 1, g.k = 1;
    g.a = {0, 2, 0}, g.b = {kSpmRows / 2, 2, 0}, g.cout = {128, 2 * blocks * kRows, 0};
    core_.busy_cycles_ = 0;
    core_.run({g});
    cycles.push_back(core_.busy_cycles_);
  }
  std::uint64_t interval = std::max(2 * kRows + 4 + (GW_BANKS == 1 ? 1 : 0), kRows + kCols + 2);
  EXPECT_EQ(cycles[1] - cycles[0], 4 * interval);
}

} // namespace
} // namespace gradweave::core_test
