// Flexer's list scheduler: sets against all combinations, priorities against each other, and golden bits of what it
// makes.
#include "compiler/cost/cost.hpp"
#include "compiler/flexer/explain.hpp"
#include "compiler/flexer/flexer.hpp"
#include "compiler/flexer/list_schedule.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/layer_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <tuple>

namespace gradweave::compiler::flexer {
namespace {

/// A forward pass in tiles, with its walk.
struct Case {
  Case(const Layer &l, const TileShape &tile, const std::string &machine, PhaseKind kind = PhaseKind::kForward)
      : npu(load_config(machine)), layers{l},
        layout(make_layout(layers, kind == PhaseKind::kForward ? Pass::kForward : Pass::kBackward, npu)), plans(1) {
    plans[0].kind = kind;
    plans[0].tile = tile;
    plans[0].loops = {Dim::kM, Dim::kN, Dim::kK};
    plans[0].products = make_order(kind, plans[0].loops, tile, l, whole(l));
    walk.emplace(plans, layers, layout, npu);
  }

  Machine npu;
  std::vector<Layer> layers;
  Layout layout;
  std::vector<PhasePlan> plans;
  std::optional<TileWalk> walk;
};

std::set<DataflowMap> maps_of(const std::vector<OperationSet> &sets, const TileDag &dag,
                              const std::vector<bool> &resident) {
  std::set<DataflowMap> maps;
  for (const OperationSet &s : sets)
    maps.insert(DataflowMap(s, dag, resident));
  return maps;
}

/// In random states of the scratchpad pruning leaves one set of each map, and loses none if four of each grow on; of
/// the usual two it loses a few (docs/flexer.md).
TEST(OperationSets, HaveOneSetOfEachMapThatThereIs) {
  const Case c(make_layer(12, 8, 12), {4, 8, 4}, "test8c4");
  const TileDag dag(c.plans, *c.walk);
  const std::vector<std::int32_t> ready = dag.sources(0);
  ASSERT_EQ(ready.size(), 9U);
  std::mt19937_64 rng(1);
  std::uint64_t all_of_them = 0, pruned_to = 0, lost = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<bool> resident(dag.uses().size());
    for (std::size_t t = 0; t < resident.size(); ++t)
      resident[t] = rng() % 3 == 0;
    for (std::uint32_t size = 1; size <= 4; ++size) {
      const auto all = make_sets(ready, size, dag, resident, false);
      const auto pruned = make_sets(ready, size, dag, resident, true, 4);
      EXPECT_EQ(maps_of(pruned, dag, resident).size(), pruned.size()) << "round " << round << ", " << size;
      ASSERT_LE(pruned.size(), maps_of(all, dag, resident).size());
      lost += maps_of(all, dag, resident).size() - pruned.size();
      all_of_them += all.size();
      pruned_to += pruned.size();
    }
  }
  EXPECT_LT(2 * pruned_to, all_of_them);
  EXPECT_EQ(lost, 0U);
}

/// A schedule that would move more is given up, one that moves as much is not.
TEST(ListSchedule, KeepsToTheBytesThatItMayMove) {
  const Case c(make_layer(40, 48, 40), {8, 16, 8}, "test8c4");
  const auto bytes_of = [](const Program &program) {
    std::uint64_t bytes = 0;
    for (const Action &a : program.actions)
      if (!a.computes()) bytes += std::uint64_t{program.form(a).rows} * program.form(a).cols * (a.fp32 ? 4 : 2);
    return bytes;
  };
  const auto within = [&](std::uint64_t most) { return list_schedule(c.plans, *c.walk, Policy(), 4, most); };
  const std::optional<Program> program = within(~std::uint64_t{0});
  ASSERT_TRUE(program);
  const std::uint64_t bytes = bytes_of(*program);
  ASSERT_TRUE(within(bytes));
  EXPECT_EQ(bytes_of(*within(bytes)), bytes);
  EXPECT_FALSE(within(bytes - 1));
  EXPECT_FALSE(within(0));
}

/// Growing only one set of each map loses maps: the test above can fail.
TEST(OperationSets, KeepingTooFewLosesMaps) {
  const Case c(make_layer(12, 8, 12), {4, 8, 4}, "test8c4");
  const TileDag dag(c.plans, *c.walk);
  std::mt19937_64 rng(1);
  bool lost = false;
  for (int round = 0; round < 100; ++round) {
    std::vector<bool> resident(dag.uses().size());
    for (std::size_t t = 0; t < resident.size(); ++t)
      resident[t] = rng() % 3 == 0;
    const auto all = make_sets(dag.sources(0), 4, dag, resident, false);
    const auto few = make_sets(dag.sources(0), 4, dag, resident, true, 1);
    lost = lost || maps_of(few, dag, resident) != maps_of(all, dag, resident);
  }
  EXPECT_TRUE(lost);
}

TEST(TileDag, AnOperationWaitsForTheOneBeforeItInItsSum) {
  const Case c(make_layer(8, 24, 8), {8, 8, 4}, "test8c2");
  const TileDag dag(c.plans, *c.walk);
  ASSERT_EQ(dag.operations().size(), 6U);
  EXPECT_EQ(dag.sources(0), (std::vector<std::int32_t>{0, 3}));
  EXPECT_EQ(dag.operations()[0].next, 1);
  EXPECT_EQ(dag.operations()[2].next, Operation::kNone);
  const Operation &first = dag.operations()[0];
  EXPECT_EQ(dag.uses()[static_cast<std::size_t>(first.operands[0])], 2U) << "a tile of X is read for two of Y";
  EXPECT_EQ(dag.uses()[static_cast<std::size_t>(first.result)], 2U) << "a sum is read by those after the first";
}

/// The steps of a product of 2 x 2 tiles on two cores: by hand, both operations of a set share a tile of A, or of B,
/// and what they leave serves the next set.
TEST(ListSchedule, SharesWhatItCan) {
  const Case c(make_layer(16, 8, 16), {8, 8, 8}, "test8c2");
  std::vector<ListStep> steps;
  const auto program =
      list_schedule(c.plans, *c.walk, {}, 2, ~std::uint64_t{0}, [&](const ListStep &s) { steps.push_back(s); });
  ASSERT_TRUE(program.has_value());
  ASSERT_EQ(steps.size(), 2U);
  for (const ListStep &s : steps) {
    EXPECT_EQ(s.set.count, 2U);
    EXPECT_TRUE(s.victims.empty());
    EXPECT_FALSE(s.repacked);
  }
  std::size_t loaded = 0;
  for (const ListStep &s : steps)
    loaded += static_cast<std::size_t>(
        std::count_if(s.placed.begin(), s.placed.end(), [](const ListStep::Placed &p) { return p.loaded; }));
  EXPECT_EQ(loaded, 4U) << "each tile once";
  EXPECT_EQ(moved_bytes(*program, c.npu), 3U * 16 * 16 / 2 * 2 + 16 * 16);
}

/// Worked out by hand: Y is two tiles of 8 x 8, each a chain of two products, operations 0, 1 and 2, 3. In a scratchpad
/// of 40 rows tiles of X, W and Y take 8, sums of fp32 16. Step 1: operations 0 and 2 together need 56 rows. Alone, 0
/// takes 32, and all but the X it has read stays. Step 2: 1 finds its sum (16 rows); its X comes in place of the dead
/// one, its W is put into the last 8 rows, and for Y the
///   first W has to go, which 2 is still to read: 16 - 8 / 1. For 2, which finds that W (8), the sum would have to go:
///   8 - 16 / 1, and it would be stored (256 bytes) besides the load of X (128).
/// Step 3: 2 has its sum in place of the first, and loads the W again.
/// Step 4: 3 finds the second W and its sum.
TEST(ListSchedule, ExplainsItself) {
  Case c(make_layer(16, 16, 8), {8, 8, 8}, "test8c2");
  c.npu.spm_bytes = 40 * 16;
  c.npu.spm_banks = 5;
  const TileWalk walk(c.plans, c.layers, c.layout, c.npu);
  std::string text;
  std::uint64_t steps = 0;
  const auto program = list_schedule(c.plans, walk, {}, 2, ~std::uint64_t{0},
                                     [&](const ListStep &s) { text += explain(++steps, s, walk); });
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(text, R"(step 1: 2 ready, 5 sets told apart, 2 weighed
  {0 2} finds no room
  {0} benefit 0, spilled 0, utility 32, moved 256 bytes: taken
  partial Y[0:8,0:8] begins at row 0
  X[0:8,0:8] is loaded to row 16
  W[0:8,0:8] is loaded to row 24
  operation 0 on core 0: partial Y[0:8,0:8] of X[0:8,0:8], W[0:8,0:8]
step 2: 2 ready, 6 sets told apart, 3 weighed
  {1 2} finds no room
  {1} benefit 8, spilled 8, utility 32, moved 256 bytes: taken
  {2} benefit -8, spilled 16, utility 32, moved 384 bytes
  W[0:8,0:8] gives way, still to be read by 1
  X[0:8,8:16] is loaded to row 16
  W[8:16,0:8] is loaded to row 32
  Y[0:8,0:8] begins at row 24
  operation 1 on core 1: Y[0:8,0:8] of X[0:8,8:16], W[8:16,0:8], partial Y[0:8,0:8]
step 3: 1 ready, 1 sets told apart, 1 weighed
  {2} benefit 0, spilled 0, utility 40, moved 256 bytes: taken
  partial Y[8:16,0:8] begins at row 0
  W[0:8,0:8] is loaded to row 16
  X[8:16,0:8] is loaded to row 24
  operation 2 on core 0: partial Y[8:16,0:8] of X[8:16,0:8], W[0:8,0:8]
step 4: 1 ready, 1 sets told apart, 1 weighed
  {3} benefit 24, spilled 0, utility 32, moved 128 bytes: taken
  X[8:16,8:16] is loaded to row 16
  Y[8:16,0:8] begins at row 24
  operation 3 on core 1: Y[8:16,0:8] of X[8:16,8:16], W[8:16,0:8], partial Y[8:16,0:8]
)");
}

TEST(ListSchedule, WhatDoesNotFitTogetherIsIssuedApartAndWhatDoesNotFitAloneNotAtAll) {
  Case c(make_layer(64, 64, 64), {32, 32, 32}, "test8c4");
  c.npu.spm_bytes =
      16384; // 1024 rows: an operation takes 4 x 32 of each operand, and 4 x 64 of the sum, and 4 x 32 of Y
  const TileWalk walk(c.plans, c.layers, c.layout, c.npu);
  std::uint32_t most = 0;
  const auto program = list_schedule(c.plans, walk, {}, 4, ~std::uint64_t{0},
                                     [&](const ListStep &s) { most = std::max(most, s.set.count); });
  ASSERT_TRUE(program.has_value());
  EXPECT_LT(most, 4U);
  EXPECT_EQ(verify_program(*program, c.layout, c.npu), "");
  c.npu.spm_bytes = 4096;
  EXPECT_FALSE(list_schedule(c.plans, TileWalk(c.plans, c.layers, c.layout, c.npu), {}, 4).has_value());
}

TEST(ListSchedule, EndsOnceItMovesTooMuch) {
  const Case c(make_layer(40, 40, 40), {8, 8, 8}, "test8c2");
  const auto program = list_schedule(c.plans, *c.walk, {}, 2);
  ASSERT_TRUE(program.has_value());
  EXPECT_FALSE(list_schedule(c.plans, *c.walk, {}, 2, 1000).has_value());
}

bool fits_beside(const ListStep::Weighed &w, const ListStep &step) { return w.fits && w.set.count == step.set.count; }

/// What the priority wants more of.
double first_of(const SetValue &value, SetPriority priority) {
  if (priority == SetPriority::kBenefit) return value.benefit;
  return -static_cast<double>(priority == SetPriority::kMinTransfer ? value.moved : value.spilled);
}

/// Of sets that the priority holds equal the one that leaves the fuller scratchpad is taken, of these the one that
/// moves fewer bytes, of these the first. Each of the three decides somewhere.
TEST(ListSchedule, BreaksTiesByRoomThenBytesThenOrder) {
  std::mt19937_64 rng(11);
  std::array<int, 3> decided{};
  for (int round = 0; round < 60; ++round) {
    const auto side = [&](std::uint32_t most) { return static_cast<std::uint32_t>(1 + rng() % most); };
    Case c(make_layer(side(60), side(60), side(60)), {side(16) + 4, side(16) + 4, side(16) + 4}, "test8c4",
           round % 2 == 0 ? PhaseKind::kForward : PhaseKind::kInterleave);
    c.npu.spm_bytes = 4096 << (rng() % 3);
    const TileWalk walk(c.plans, c.layers, c.layout, c.npu);
    Policy policy;
    policy.priority = static_cast<SetPriority>(round % 3);
    const auto key = [&](const ListStep::Weighed &w) {
      return std::make_tuple(-first_of(w.value, policy.priority), -static_cast<double>(w.value.utility),
                             static_cast<double>(w.value.moved));
    };
    const auto observe = [&](const ListStep &step) {
      if (step.repacked) return;
      const ListStep::Weighed *best = nullptr;
      for (const ListStep::Weighed &w : step.weighed)
        if (fits_beside(w, step) && (best == nullptr || key(w) < key(*best))) best = &w;
      ASSERT_NE(best, nullptr);
      EXPECT_EQ(best->set.operations, step.set.operations) << "round " << round;
      for (const ListStep::Weighed &w : step.weighed) {
        if (!fits_beside(w, step) || &w == best || std::get<0>(key(w)) != std::get<0>(key(*best))) continue;
        const bool full = w.value.utility == best->value.utility, bytes = w.value.moved == best->value.moved;
        ++decided[!full ? 0 : !bytes ? 1 : 2];
      }
    };
    (void)list_schedule(c.plans, walk, policy, 2 + rng() % 3, ~std::uint64_t{0}, observe);
  }
  for (const int times : decided)
    EXPECT_GT(times, 0) << fmt::format("{} {} {}", decided[0], decided[1], decided[2]);
}

/// Schedules in scratchpads so small that sums are spilled.
template <typename Visit> void visit_tight(const Visit &visit) {
  for (std::uint32_t k = 24; k <= 64; k += 8) {
    Case c(make_layer(48, k, 48), {16, 8, 16}, "test8c4");
    c.npu.spm_bytes = 8192;
    const TileWalk walk(c.plans, c.layers, c.layout, c.npu);
    Policy policy;
    policy.priority = SetPriority::kMinTransfer;
    const auto program = list_schedule(c.plans, walk, policy, 4);
    ASSERT_TRUE(program.has_value());
    ASSERT_EQ(verify_program(*program, c.layout, c.npu), "");
    visit(*program, c);
  }
}

/// Where a sum that was spilled is not loaded again, the product that goes on with it does not find it.
TEST(ListSchedule, ASpilledSumThatIsNotLoadedAgainIsMissed) {
  int tried = 0;
  visit_tight([&](const Program &program, const Case &c) {
    for (std::size_t i = 0; i < program.actions.size(); ++i)
      if (const Action &a = program.actions[i]; a.kind == Action::Kind::kLoad && a.spill) {
        Program without = program;
        without.actions.erase(without.actions.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_NE(verify_program(without, c.layout, c.npu), "");
        ++tried;
      }
  });
  EXPECT_GT(tried, 0);
}

/// A tile whose rows are loaded anew before its last reader is missed by it.
TEST(ListSchedule, ATileThatGivesWayBeforeItsLastReaderIsMissed) {
  int tried = 0;
  visit_tight([&](const Program &program, const Case &c) {
    for (std::size_t i = 1; i < program.actions.size(); ++i) {
      const Action &reader = program.actions[i - 1], &load = program.actions[i];
      const auto overlaps = [&](const Spot &spot) {
        const RowRange r = program.place(spot).rows, loaded = program.place(load.place).rows;
        return r.first < loaded.end() && loaded.first < r.end();
      };
      if (load.kind != Action::Kind::kLoad || reader.kind != Action::Kind::kGemm ||
          (!overlaps(reader.in.a) && !overlaps(reader.in.b)))
        continue;
      Program early = program;
      std::swap(early.actions[i - 1], early.actions[i]);
      EXPECT_NE(verify_program(early, c.layout, c.npu), "");
      ++tried;
    }
  });
  EXPECT_GT(tried, 0);
}

/// Whatever the policy, a schedule is a legal program of the same products.
TEST(ListSchedule, IsLegalUnderEveryPolicy) {
  std::mt19937_64 rng(7);
  for (int round = 0; round < 60; ++round) {
    const auto side = [&](std::uint32_t most) { return static_cast<std::uint32_t>(1 + rng() % most); };
    const PhaseKind kinds[] = {PhaseKind::kForward, PhaseKind::kDx, PhaseKind::kDw, PhaseKind::kInterleave};
    const PhaseKind kind = kinds[rng() % 4];
    Case c(make_layer(side(60), side(60), side(60)), {side(16) + 4, side(16) + 4, side(16) + 4}, "test8c4", kind);
    c.npu.spm_bytes = 4096 << (rng() % 3);
    const TileWalk walk(c.plans, c.layers, c.layout, c.npu);
    Policy policy;
    policy.priority = static_cast<SetPriority>(rng() % 3);
    policy.victims = static_cast<Victims>(rng() % 3);
    policy.weight = static_cast<SpillWeight>(rng() % 2);
    policy.gaps_count = rng() % 2 == 0;
    const auto program = list_schedule(c.plans, walk, policy, 1 + rng() % 4);
    SCOPED_TRACE(fmt::format("round {}: {}", round, to_string(policy)));
    if (!program) continue; // an operation does not fit alone
    EXPECT_EQ(verify_program(*program, c.layout, c.npu), "");
    EXPECT_EQ(program->products.size(), c.plans[0].products.size());
    EXPECT_GE(program_cycles(*program, c.npu), 1U);
  }
}

/// What users are told of a layer's schedule, or why there is none.
std::string told(const std::vector<Layer> &layers, const std::string &npu, Partition partition = Partition::kNone) {
  CompileOptions options;
  options.schedule = Schedule("flexer");
  options.pass = Pass::kForward;
  options.partition = partition;
  options.plans = 10;
  const Machine machine = load_config(npu);
  const Layout layout = make_layout(layers, options.pass, machine);
  KnownPlans known;
  try {
    return FlexerScheduler().schedule({layers, layout, machine, options, known}).tilings.front();
  } catch (const CompileError &error) {
    return error.what();
  }
}

TEST(Flexer, RefusesWhatItDoesNotDo) {
  EXPECT_EQ(told({make_layer(8, 8, 8), make_layer(8, 8, 8)}, "test8c2"),
            "schedule 'flexer' plans one layer at a time, not 2 together; choose another schedule");
  EXPECT_EQ(
      told({make_layer(8, 8, 8)}, "test8c2", Partition::kWeightSharing),
      "layer '8x8x8': schedule 'flexer' gives operations to all cores and cuts no layer; leave the partition out");
}

TEST(Flexer, TellsWhatCoresAndTilingsItDoesNotUse) {
  EXPECT_EQ(told({make_layer(1, 1, 1)}, "test8c4"),
            "Y m1 k1 n1 of 1 tilings, 3 of 4 cores idle: there are no more operations at a time");
  EXPECT_EQ(told({make_layer(64, 64, 64)}, "test8c4").find("idle"), std::string::npos);
  const std::string large = told({make_layer(512, 512, 64)}, "test8c4");
  EXPECT_NE(large.find(" left out, of more than 2000 operations)"), std::string::npos) << large;
}

} // namespace
} // namespace gradweave::compiler::flexer
