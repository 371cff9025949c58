// List scheduling that knows time: legal orders, choices by hand, and small graphs against all orders there are.
#include "compiler/cost/cost.hpp"
#include "compiler/list/list_search.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/layer_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace gradweave::compiler::list {
namespace {

/// A phase in tiles, with its walk in blocks.
struct Case {
  Case(const Layer &l, PhaseKind kind, const TileShape &tile, const Block &block, const Machine &machine)
      : npu(machine), layers{l},
        layout(make_layout(layers, kind == PhaseKind::kForward ? Pass::kForward : Pass::kBackward, npu)), phases(1) {
    phases[0].kind = kind;
    phases[0].tile = tile;
    const RowRange all{0, npu.spm_rows()};
    phases[0].split = {all, all, all};
    phases[0].products = products = blocked_products(kind, tile, block, l, npu.cores);
    walk.emplace(phases, layers, layout, npu);
  }

  /// With the products in these turns.
  std::optional<Program> play(const std::vector<Turn> &turns) {
    phases[0].products.clear();
    for (const Turn &t : turns) {
      phases[0].products.push_back(products[t.product]);
      phases[0].products.back().core = t.core;
    }
    return allocate(phases, layers, layout, npu);
  }

  Machine npu;
  std::vector<Layer> layers;
  Layout layout;
  std::vector<PhasePlan> phases;
  std::vector<TileProduct> products;
  std::optional<TileWalk> walk;
};

std::string problem_of(const std::vector<TileProduct> &products, const Case &c) {
  return verify_order(products, c.layers.front(),
                      c.phases[0].kind == PhaseKind::kForward ? Pass::kForward : Pass::kBackward,
                      c.walk->reductions().front());
}

TEST(BlockedProducts, AreAllProductsBlockAfterBlockBackAndForth) {
  const Case c(make_layer(16, 16, 16), PhaseKind::kForward, {4, 8, 4}, {2, 2, false}, load_config("test8c2"));
  std::string order;
  for (const TileProduct &p : c.products)
    order += fmt::format("{}{}{} ", p.m / 4, p.n / 4, p.k / 8);
  EXPECT_EQ(order, "000 010 100 110 001 011 101 111 " // block of rows 0, 1 and columns 0, 1
                   "020 030 120 130 021 031 121 131 "
                   "220 230 320 330 221 231 321 331 " // the next row of blocks runs back
                   "200 210 300 310 201 211 301 311 ");
}

TEST(BlockedProducts, GiveSumsToCoresByTurnsFromBlockToBlock) {
  const Case c(make_layer(12, 16, 12), PhaseKind::kForward, {4, 8, 4}, {3, 1, false}, load_config("test8c2"));
  std::string cores;
  for (const TileProduct &p : c.products)
    cores += std::to_string(p.core);
  EXPECT_EQ(cores, "010010" // three sums, two steps of each
                   "101101"
                   "010010");
}

/// What the search leaves out, or gives up, would have been too slow.
void expect_bounds_hold(const Program &program, const Case &c) {
  EXPECT_LE(least_traffic(*c.walk, isa::kCommandBytes),
            moved_bytes(program, c.npu) + program.actions.size() * isa::kCommandBytes);
  const std::uint64_t cycles = program_cycles(program, c.npu);
  EXPECT_EQ(program_cycles(program, c.npu, cycles + 1), cycles);
  for (const std::uint64_t limit : {cycles, cycles * 9 / 10, cycles / 2})
    EXPECT_GE(program_cycles(program, c.npu, limit), limit);
}

/// Whatever layer, tile, block and weights: each product once, sums in their order, and a legal program.
TEST(ListOrder, IsLegal) {
  std::mt19937_64 rng(5);
  const PhaseKind kinds[] = {PhaseKind::kForward, PhaseKind::kDw};
  for (int round = 0; round < 60; ++round) {
    const auto side = [&](std::uint32_t most) { return static_cast<std::uint32_t>(1 + rng() % most); };
    Layer layer = make_layer(side(60), side(60), side(60));
    layer.dx = false;
    const Block block{side(4), side(4), rng() % 2 == 0};
    Machine npu = load_config("test8c4");
    npu.spm_bytes = 4096 << (rng() % 3);
    Case c(layer, kinds[rng() % 2], {side(16) + 4, side(16) + 4, side(16) + 4}, block, npu);
    SCOPED_TRACE(fmt::format("round {}: {}", round, layer.name));
    EXPECT_EQ(problem_of(c.products, c), "");
    ListOptions options;
    options.beam = side(3);
    options.stretch = side(20);
    options.ahead = side(20);
    options.weights = {{0.5, 0.1, 2}, {0, 0.5, 0}};
    const ListedOrder listed = list_order(*c.walk, c.products, options);
    ASSERT_EQ(listed.turns.size(), c.products.size());
    EXPECT_GT(listed.cycles, 0);
    const std::optional<Program> program = c.play(listed.turns);
    for (const Turn &t : listed.turns)
      EXPECT_LT(t.core, 4);
    if (!program) continue; // a product does not fit
    EXPECT_EQ(problem_of(program->products, c), "");
    EXPECT_EQ(verify_program(*program, c.layout, c.npu), "");
    expect_bounds_hold(*program, c);
  }
}

/// Two cores, two results of two steps each: a core goes on with its own sum, which needs no other core.
TEST(ListOrder, KeepsASumOnItsCore) {
  Case c(make_layer(8, 32, 16), PhaseKind::kForward, {8, 16, 8}, {1, 2, false}, load_config("test8c2"));
  const ListedOrder listed = list_order(*c.walk, c.products, {});
  ASSERT_EQ(listed.turns.size(), 4U);
  std::array<std::set<std::uint8_t>, 2> cores;
  for (const Turn &t : listed.turns)
    cores.at(c.products[t.product].n / 8).insert(t.core);
  EXPECT_EQ(cores[0].size(), 1U);
  EXPECT_EQ(cores[1].size(), 1U);
  EXPECT_NE(*cores[0].begin(), *cores[1].begin());
}

/// A core that would wait for two operands takes a product behind it, which needs but one.
TEST(ListOrder, TakesWhatIsThereInsteadOfWaiting) {
  Case c(make_layer(16, 64, 16), PhaseKind::kForward, {8, 64, 8}, {1, 1, true}, load_config("test8"));
  // Blocks run down and back: (0,0), (1,0), (1,1), (0,1).
  std::swap(c.products[1], c.products[2]);
  c.phases[0].products = c.products;
  const TileWalk walk(c.phases, c.layers, c.layout, c.npu);
  ListOptions options;
  const auto second = [&] { return list_order(walk, c.products, options).turns[1].product; };
  EXPECT_NE(second(), 1U);
  options.ahead = 1;
  EXPECT_EQ(second(), 1U) << "the list does not look further";
  options.ahead = 12;
  options.weights = {{0, 50, 0}};
  EXPECT_EQ(second(), 1U) << "nothing may be overtaken";
}

/// All orders in which sums ascend, each with all cores: what no list schedule of the same tiles can beat.
class Exhaustive {
public:
  explicit Exhaustive(Case &c) : case_(c), order_(c.products.size()) { std::iota(order_.begin(), order_.end(), 0); }

  std::uint64_t run() {
    do {
      if (ascends())
        for (std::uint32_t cores = 0; cores < 1U << (order_.size() - 1); ++cores) // the first on core 0
          play(cores << 1U);
    } while (std::next_permutation(order_.begin(), order_.end()));
    return best_;
  }
  std::uint64_t tried() const { return tried_; }

private:
  bool ascends() const {
    std::vector<std::size_t> at(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i)
      at[order_[i]] = i;
    for (std::size_t i = 0; i < at.size(); ++i)
      for (std::size_t j = 0; j < at.size(); ++j) {
        const TileProduct &x = case_.products[i], &y = case_.products[j];
        if (x.m == y.m && x.n == y.n && x.k < y.k && at[i] > at[j]) return false;
      }
    return true;
  }
  void play(std::uint32_t cores) {
    std::vector<Turn> turns;
    for (std::size_t i = 0; i < order_.size(); ++i)
      turns.push_back({order_[i], static_cast<std::uint8_t>(cores >> i & 1U)});
    const auto program = case_.play(turns);
    if (!program) return;
    ++tried_;
    best_ = std::min(best_, program_cycles(*program, case_.npu, best_));
  }

  Case &case_;
  std::vector<std::uint32_t> order_;
  std::uint64_t best_ = kTooSlow, tried_ = 0;
};

/// Never better than the best of all orders, and at most so many percent slower (docs/flexer.md).
TEST(ListOrder, IsNearTheBestOfAllOrdersOfSmallGraphs) {
  struct Small {
    Layer layer;
    TileShape tile;
    Block block;
  };
  const std::vector<Small> all{{make_layer(16, 32, 16), {8, 32, 8}, {2, 2, false}},
                               {make_layer(24, 40, 16), {8, 40, 8}, {3, 2, false}},
                               {make_layer(16, 48, 8), {8, 16, 8}, {2, 1, false}},
                               {make_layer(8, 64, 24), {8, 32, 8}, {1, 3, false}}};
  double worst = 0;
  for (const Small &small : all) {
    Case c(small.layer, PhaseKind::kForward, small.tile, small.block, load_config("test8c2"));
    Exhaustive exhaustive(c);
    const std::uint64_t best = exhaustive.run();
    const auto program = c.play(list_order(*c.walk, c.products, {}).turns);
    ASSERT_TRUE(program.has_value());
    const std::uint64_t listed = program_cycles(*program, c.npu);
    EXPECT_GE(listed, best);
    const double gap = 100 * (static_cast<double>(listed) / static_cast<double>(best) - 1);
    fmt::print("{}, {} products, {} schedules: best {}, list {}, {:.1f} % more\n", small.layer.name, c.products.size(),
               exhaustive.tried(), best, listed, gap);
    worst = std::max(worst, gap);
  }
  EXPECT_LE(worst, 20);
}

TEST(ListSearch, IsNotSlowerThanThePlansItBeginsWith) {
  const Machine npu = load_config("test8c4");
  const Layer layer = make_layer(96, 80, 72);
  const std::vector<Layer> layers{layer};
  const Layout layout = make_layout(layers, Pass::kForward, npu);
  PhasePlan plan;
  plan.kind = PhaseKind::kForward;
  plan.tile = {16, 40, 24};
  plan.loops = {Dim::kM, Dim::kN, Dim::kK};
  plan.parts = {Dim::kM, 4, 4, Reduction::kChain, Sharing::kTurns};
  const RowRange all{0, npu.spm_rows()};
  plan.split = {all, all, all};
  std::vector<PhasePlan> timed{plan};
  timed.front().products = plan_products(plan, layer, npu);
  const auto program = allocate(timed, layers, layout, npu);
  ASSERT_TRUE(program.has_value());
  const std::uint64_t before = program_cycles(*program, npu);

  ListSearchOptions options;
  options.from = {plan};
  options.plans = 60;
  const auto found = search_list(PhaseKind::kForward, layer, layout, npu, options);
  ASSERT_TRUE(found.has_value());
  EXPECT_LE(found->cycles, before);
  timed.front() = found->phase;
  timed.front().products = list_products(*found, layers, layout, npu);
  const auto again = allocate(timed, layers, layout, npu);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(program_cycles(*again, npu), found->cycles) << "the plan says all that its cycles depend on";
  options.plans = 0;
  options.from.clear();
  const auto blocks_only = search_list(PhaseKind::kForward, layer, layout, npu, options);
  ASSERT_TRUE(blocks_only.has_value());
  EXPECT_TRUE(blocks_only->block.has_value());
}

} // namespace
} // namespace gradweave::compiler::list
