// The order in which woven phases run, and what it may not do: begin before operands are there.
#include "compiler/back/compile_plan.hpp"
#include "compiler/back/vector_section.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/run_order.hpp"
#include "compiler/spm/residency.hpp"
#include "tests/compiler/step_run.hpp"
#include "tests/support/cases.hpp"

#include <algorithm>
#include <set>

namespace gradweave::compiler {
namespace {

/// Three products in a row, forwards and backwards.
struct Chain {
  Machine npu = load_config("test8");
  std::vector<Layer> layers{make_layer(32, 24, 16, false), make_layer(32, 16, 24), make_layer(32, 24, 8)};
  Layout layout;
  std::vector<PhasePlan> plans;

  explicit Chain(Pass pass, std::uint32_t lines = 8) {
    npu.spm_bytes *= 4;
    for (std::uint32_t i = 0; i < layers.size(); ++i) {
      layers[i].name = fmt::format("l{}", i);
      layers[i].index = i;
      if (i > 0) layers[i].input = layers[i - 1].name;
    }
    layout = make_layout(layers, pass, npu);
    const RowRange all{0, npu.spm_rows()};
    const auto add = [&](PhaseKind kind, std::uint32_t layer) {
      PhasePlan plan;
      plan.kind = kind;
      plan.layer = layer;
      plan.tile = {lines, layers[layer].k, 8};
      plan.loops = {Dim::kM, Dim::kN, Dim::kK};
      plan.split = {all, all, all};
      plan.products = plan_products(plan, layers[layer], npu);
      plans.push_back(plan);
    };
    if (pass != Pass::kBackward)
      for (std::uint32_t i = 0; i < layers.size(); ++i)
        add(PhaseKind::kForward, i);
    if (pass == Pass::kForward) return;
    for (std::uint32_t i = 3; i-- > 0;) {
      if (layers[i].dx) add(PhaseKind::kDx, i);
      add(PhaseKind::kDw, i);
    }
  }

  std::vector<TileProduct> products() const {
    std::vector<TileProduct> all;
    for (const Slice &slice : run_order(plans, layers, layout))
      for (std::size_t i = slice.first; i < slice.end; ++i)
        all.push_back(plans[slice.plan].products[i]);
    return all;
  }
};

TEST(RunOrder, IsThatOfThePhasesIfNoneIsWoven) {
  const Chain chain(Pass::kBoth);
  const std::vector<Slice> order = run_order(chain.plans, chain.layers, chain.layout);
  ASSERT_EQ(order.size(), chain.plans.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i].plan, i);
    EXPECT_EQ(order[i].run, i);
    EXPECT_TRUE(order[i].begins);
    EXPECT_EQ(order[i].first, 0U);
    EXPECT_EQ(order[i].end, chain.plans[i].products.size());
  }
}

/// Bands of 8 lines: Y of the second layer follows the first's, a band behind it.
TEST(RunOrder, AWovenPhaseFollowsBandByBand) {
  Chain chain(Pass::kForward);
  chain.plans[1].woven = true;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> bands; // layer, first line
  for (const TileProduct &p : chain.products())
    if (bands.empty() || bands.back() != std::pair{p.layer, p.m}) bands.emplace_back(p.layer, p.m);
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected{
      {0, 0}, {1, 0}, {0, 8}, {1, 8}, {0, 16}, {1, 16}, {0, 24}, {1, 24}, {2, 0}, {2, 8}, {2, 16}, {2, 24}};
  // Evenness may split a band; what counts is who follows whom.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> firsts;
  for (const auto &band : bands)
    if (std::find(firsts.begin(), firsts.end(), band) == firsts.end()) firsts.push_back(band);
  EXPECT_EQ(firsts, expected);
}

/// Products of a plan that runs at once, and of one that runs slice by slice between another's.
TEST(RunOrder, AProgramTakesThePlansProducts) {
  for (const bool woven : {false, true}) {
    Chain chain(Pass::kBoth);
    chain.plans[1].woven = woven;
    const auto copied = allocate(chain.plans, chain.layers, chain.layout, chain.npu);
    const auto taken = allocate_once(chain.plans, chain.layers, chain.layout, chain.npu);
    ASSERT_TRUE(copied && taken);
    EXPECT_EQ(key_of(*taken), key_of(*copied)); // actions, and products one by one
    EXPECT_EQ(taken->products.size(), copied->products.size());
    for (const PhasePlan &plan : chain.plans)
      EXPECT_TRUE(plan.products.empty());
  }
}

/// Of what is woven with two joined phases each half goes to one of them.
TEST(RunOrder, WhatIsWovenIsSpreadOverJoinedPhases) {
  Chain chain(Pass::kBackward);
  ASSERT_EQ(chain.plans.size(), 5U); // dX and dW of the last two layers, dW of the first
  chain.plans[3].joined = true;      // of the second layer, dW behind dX
  std::swap(chain.plans[1], chain.plans[2]);
  std::swap(chain.plans[2], chain.plans[3]); // dX of the last layer; dX and dW of the second, dW of the last
  chain.plans[3].woven = true;
  std::vector<std::size_t> beside(chain.plans.size(), 0); // products of the last layer's dW behind some of each phase
  std::size_t last = 0;
  for (const Slice &slice : run_order(chain.plans, chain.layers, chain.layout)) {
    if (slice.plan == 3)
      beside[last] += slice.end - slice.first;
    else
      last = slice.plan;
    if (slice.plan == 2 || slice.plan == 3) EXPECT_EQ(slice.run, 1U);
  }
  EXPECT_GT(beside[0] + beside[1], 0U);
  EXPECT_GT(beside[2], 0U);
}

/// A section of so many pieces that computes a layer's dW. Each loads so many rows of its operands behind those of the
/// one before; 0: all.
PhasePlan section_of_dw(std::uint32_t layer, std::uint32_t pieces, std::uint32_t rows = 0) {
  PhasePlan plan;
  plan.kind = PhaseKind::kDw;
  plan.layer = layer;
  VectorSection section{Tensor::kDW, {{layer, Tensor::kX}, {layer, Tensor::kDY}}, {layer}, {}};
  section.pieces.resize(pieces);
  for (std::uint32_t i = 0; i < pieces; ++i)
    for (const SectionOperand &of : section.operands)
      section.pieces[i].loaded.push_back({of, i * rows, rows == 0 ? 32 : (i + 1) * rows});
  plan.section = std::make_shared<const VectorSection>(std::move(section));
  plan.products = section_products(*plan.section, layer);
  return plan;
}

/// How many products of the first phase stand before each of the second.
std::vector<std::size_t> products_before(const Chain &chain) {
  std::vector<std::size_t> before;
  std::size_t of_first = 0;
  for (const Slice &slice : run_order(chain.plans, chain.layers, chain.layout))
    if (slice.plan == 0)
      of_first += slice.end - slice.first;
    else
      before.insert(before.end(), slice.end - slice.first, of_first);
  return before;
}

TEST(RunOrder, PiecesAreSpreadOverProducts) {
  Chain chain(Pass::kBackward);
  chain.plans = {chain.plans[2], section_of_dw(2, 4)}; // dX of the second layer
  ASSERT_EQ(chain.plans[0].kind, PhaseKind::kDx);
  chain.plans[1].woven = true;
  const std::size_t products = chain.plans[0].products.size();
  ASSERT_EQ(products % 4, 0U);
  EXPECT_EQ(products_before(chain), (std::vector<std::size_t>{0, products / 4, products / 2, products * 3 / 4}));
}

TEST(RunOrder, ProductsAreSpreadOverPieces) {
  Chain chain(Pass::kBackward);
  chain.plans = {section_of_dw(2, 2), chain.plans[3]}; // dW of the second layer
  chain.plans[1].woven = true;
  const std::vector<std::size_t> before = products_before(chain);
  ASSERT_EQ(before.size(), chain.plans[1].products.size());
  const auto behind_one = std::count(before.begin(), before.end(), 1U);
  EXPECT_LE(std::abs(2 * behind_one - static_cast<std::ptrdiff_t>(before.size())), 2);
}

TEST(RunOrder, PiecesStandBehindAllOfTheirOperands) {
  Chain chain(Pass::kBackward);
  chain.plans = {chain.plans[0], section_of_dw(1, 4)}; // dX of the last layer is dY of the second
  chain.plans[1].woven = true;
  EXPECT_EQ(products_before(chain), std::vector<std::size_t>(4, chain.plans[0].products.size()));
}

/// Each by itself, and a product more: what is stored last is not in memory yet.
TEST(RunOrder, PiecesStandBehindTheRowsThatTheyLoad) {
  Chain chain(Pass::kBackward);
  chain.plans = {chain.plans[0], section_of_dw(1, 4, 8)};
  chain.plans[1].woven = true;
  const std::size_t all = chain.plans[0].products.size(), band = all / 4;
  const std::vector<std::size_t> before = products_before(chain);
  ASSERT_EQ(before.size(), 4U);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_GE(before[i], std::min(all, (i + 1) * band + 1)) << i;
    EXPECT_LE(before[i], std::min(all, (i + 2) * band)) << i;
  }
}

/// Whether pieces of a section stand between those of another one.
bool sections_interleave(const Chain &chain) {
  std::vector<std::size_t> order; // of the sections, as they come and go
  for (const Slice &slice : run_order(chain.plans, chain.layers, chain.layout))
    if (chain.plans[slice.plan].section && (order.empty() || order.back() != slice.plan)) order.push_back(slice.plan);
  const std::set<std::size_t> different(order.begin(), order.end());
  return different.size() < order.size();
}

TEST(RunOrder, SectionsStandBehindOneAnother) {
  struct Case {
    const char *why;
    bool first_woven, second_woven, second_joined;
  };
  for (const Case &c :
       {Case{"one after the other", false, false, false}, Case{"the second woven with the first", false, true, false},
        Case{"both woven with a product", true, true, false},
        Case{"the second joined to the first", false, false, true},
        Case{"the second joined to a woven one", true, false, true},
        Case{"the first woven, the second by itself", true, false, false}}) {
    SCOPED_TRACE(c.why);
    Chain chain(Pass::kBackward);
    chain.plans = {chain.plans[2], section_of_dw(2, 4), section_of_dw(1, 4)}; // dX of the second layer before them
    chain.plans[1].woven = c.first_woven;
    chain.plans[2].woven = c.second_woven;
    chain.plans[2].joined = c.second_joined;
    EXPECT_FALSE(sections_interleave(chain));
  }
  Chain chain(Pass::kBackward);
  chain.plans = {section_of_dw(2, 4), section_of_dw(2, 4)};
  chain.plans[1].woven = true;
  EXPECT_FALSE(sections_interleave(chain)) << "nothing else keeps them apart";
}

TEST(RunOrder, RunsBeginWithTheirFirstSlice) {
  Chain chain(Pass::kBoth);
  chain.plans[1].woven = chain.plans[2].woven = chain.plans[5].woven = true;
  std::vector<std::size_t> runs;
  for (const Slice &slice : run_order(chain.plans, chain.layers, chain.layout))
    if (slice.begins) runs.push_back(slice.run);
  EXPECT_EQ(runs, (std::vector<std::size_t>{0, 3, 4, 6, 7}));
}

/// Whatever is woven: each phase keeps its order, and reads only what is there.
TEST(RunOrder, KeepsOrdersAndWaitsForOperands) {
  for (std::uint64_t seed = 1; seed <= test::cases(100); ++seed) {
    std::mt19937_64 rng(seed);
    Chain chain(Pass::kBoth, static_cast<std::uint32_t>(1 + rng() % 20));
    for (PhasePlan &plan : chain.plans)
      plan.woven = rng() % 3 != 0, plan.joined = rng() % 2 != 0;
    const std::vector<TileProduct> products = chain.products();
    std::size_t count = 0;
    for (const PhasePlan &plan : chain.plans) {
      count += plan.products.size();
      auto at = products.begin();
      for (const TileProduct &p : plan.products) {
        at = std::find_if(at, products.end(), [&](const TileProduct &q) {
          return q.layer == p.layer && q.result == p.result && q.m == p.m && q.k == p.k && q.n == p.n;
        });
        ASSERT_NE(at, products.end()) << "seed " << seed << ": a product out of order";
        ++at;
      }
    }
    EXPECT_EQ(products.size(), count);
    const auto writes_after = [&](std::size_t i, std::int32_t binding, const Rect &rect) {
      return std::any_of(products.begin() + static_cast<std::ptrdiff_t>(i), products.end(), [&](const TileProduct &q) {
        const Rect c = roles(q, chain.layers[q.layer]).c_rect;
        return chain.layout.place(q.layer, q.result) == binding && c.row < rect.row + rect.rows &&
               rect.row < c.row + c.rows && c.col < rect.col + rect.cols && rect.col < c.col + c.cols;
      });
    };
    for (std::size_t i = 0; i < products.size(); ++i) {
      const GemmRoles r = roles(products[i], chain.layers[products[i].layer]);
      EXPECT_FALSE(writes_after(i, chain.layout.place(products[i].layer, r.a), r.a_rect)) << "seed " << seed;
      EXPECT_FALSE(writes_after(i, chain.layout.place(products[i].layer, r.b), r.b_rect)) << "seed " << seed;
    }
  }
}

TEST(Woven, StepsAreGolden) {
  for (std::uint64_t seed = 1; seed <= test::cases(100); ++seed) {
    std::mt19937_64 rng(seed);
    Chain chain(Pass::kBoth, static_cast<std::uint32_t>(1 + rng() % 20));
    const auto turn = std::find_if(chain.plans.begin(), chain.plans.end(),
                                   [](const PhasePlan &plan) { return plan.kind != PhaseKind::kForward; });
    for (PhasePlan &plan : chain.plans) {
      plan.woven = rng() % 3 != 0 && &plan != &*turn;
      plan.starts_empty = rng() % 4 == 0;
      plan.reach = rng() % 3;
      plan.window = 1 + rng() % 6;
    }
    SCOPED_TRACE(fmt::format("seed {}", seed));
    expect_golden(compile_plans(chain.layers, Pass::kBoth, chain.plans, chain.npu), chain.npu, seed);
  }
}

} // namespace
} // namespace gradweave::compiler
