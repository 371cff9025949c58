// Tokens: a wait exists exactly where an access needs it and nothing else implies it.
#include "compiler/emit/hazards.hpp"
#include "tests/compiler/layer_run.hpp"

namespace gradweave::compiler {
namespace {

const Machine &npu() {
  static const Machine config = load_config("test8");
  return config;
}

/// Of all programs here.
TileForms &forms() {
  static TileForms all;
  return all;
}

Spot at(RowRange rows, const Rect &rect = {}) { return {rows.first, forms().number_of(rect, {rows, rows.rows})}; }

Action dma(Action::Kind kind, RowRange rows) {
  Action a;
  a.kind = kind;
  a.place = at(rows);
  a.memory = {};
  return a;
}
Action load(RowRange rows) { return dma(Action::Kind::kLoad, rows); }
Action store(RowRange rows) { return dma(Action::Kind::kStore, rows); }

/// A GEMM with `blocks` blocks of results.
Action gemm(RowRange a, RowRange b, RowRange out, bool acc, std::uint32_t blocks) {
  Action g;
  g.acc = acc;
  g.place = at(out, {0, 0, 8 * blocks, 8});
  g.in = {at(a), at(b), g.place};
  return g;
}

Orderings order(std::vector<Action> actions) {
  Program p;
  p.actions = std::move(actions);
  p.forms = forms();
  return order_actions(p, npu());
}

/// The actions to wait for on the load, the store and the compute engine of core 0.
struct After {
  std::int32_t load, store, compute;
};
bool operator==(const decltype(Ordering::after) &after, const After &expected) {
  return std::equal(after.begin() + 3, after.end(), std::vector<std::int32_t>(after.size() - 3, -1).begin()) &&
         after[0] == expected.load && after[1] == expected.store && after[2] == expected.compute;
}

TEST(Hazards, ReadAfterWriteAcrossEngines) {
  const auto o = order({load({0, 8}), load({8, 8}), gemm({0, 8}, {8, 8}, {16, 16}, false, 1), store({16, 16})});
  EXPECT_EQ(o[2].after, (After{1, -1, -1})) << "the second load completes after the first";
  EXPECT_TRUE(o[1].posts[kComputeEngine]);
  EXPECT_FALSE(o[0].posts[kComputeEngine]) << "no token that nobody takes";
  EXPECT_EQ(o[3].after, (After{-1, -1, 2}));
}

TEST(Hazards, WriteAfterReadAcrossEngines) {
  const auto o = order({load({0, 8}), load({8, 8}), gemm({0, 8}, {8, 8}, {16, 16}, false, 1), load({0, 8}),
                        store({16, 16}), load({16, 8}), gemm({0, 8}, {8, 8}, {24, 16}, false, 1)});
  EXPECT_EQ(o[3].after, (After{-1, -1, 2})) << "the GEMM must have read";
  EXPECT_EQ(o[5].after, (After{-1, 4, -1})) << "the STORE must have read; it implies the GEMM";
  EXPECT_EQ(o[6].after, (After{3, 4, -1}));
}

TEST(Hazards, ImpliedWaitsAreLeftOut) {
  const auto o = order(
      {load({0, 8}), load({8, 8}), gemm({0, 8}, {8, 8}, {16, 16}, false, 1), gemm({0, 8}, {8, 8}, {32, 16}, false, 1)});
  EXPECT_EQ(o[3].after, (After{-1, -1, -1})) << "the GEMM before has waited";
}

TEST(Hazards, InitialValuesFollowTheThreeBlockRule) {
  for (const std::uint32_t blocks : {1U, 2U, 3U, 4U}) {
    const auto o = order(
        {load({0, 40}), gemm({0, 8}, {8, 8}, {100, 64}, false, blocks), gemm({0, 8}, {8, 8}, {100, 64}, true, blocks)});
    EXPECT_EQ(o[2].after[kComputeEngine], blocks < 3 ? 1 : -1) << blocks << " blocks";
  }
  const auto apart = order({load({0, 40}), gemm({0, 8}, {8, 8}, {100, 16}, false, 1),
                            gemm({0, 8}, {8, 8}, {200, 32}, false, 2), gemm({0, 8}, {8, 8}, {100, 16}, true, 1)});
  EXPECT_EQ(apart[3].after[kComputeEngine], -1) << "three blocks apart";
}

TEST(Hazards, SpilledSumsComeBackAfterTheirStore) {
  Action out = store({100, 16});
  Action in = load({120, 16});
  out.spill = in.spill = true;
  out.memory.address = in.memory.address = 4096;
  const auto o = order({load({0, 40}), gemm({0, 8}, {8, 8}, {100, 16}, false, 1), out, in});
  EXPECT_EQ(o[3].after, (After{-1, 2, -1}));
}

} // namespace
} // namespace gradweave::compiler
