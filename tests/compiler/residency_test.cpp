// Residency: the scratchpad map, and the check that refuses broken programs.
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/search/search.hpp"
#include "compiler/spm/residency.hpp"
#include "compiler/spm/spm_map.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/layer_run.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <random>

namespace gradweave::compiler {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(SpmMap, PrefersTheCheapestRunAndKeepsTheRest) {
  SpmMap map(100);
  const auto evict = [](std::int32_t tile) { return LastUse{tile, -1}; };
  map.occupy({0, 40}, 1, evict);
  map.occupy({40, 20}, 2, evict);
  const auto cost = [](const SpmMap::Segment &s) { return s.tile == 1 ? 5.0 : s.tile == 2 ? 3.0 : 0.0; };
  const auto anywhere = [](RowRange) { return 0.0; };
  const auto never = [](const SpmMap::Segment &) { return kInfinite; };
  EXPECT_EQ(map.cheapest(40, {0, 100}, cost, anywhere, false), 60U);
  EXPECT_EQ(map.cheapest(50, {0, 100}, cost, anywhere, false), 40U) << "only tile 2 has to go";
  EXPECT_EQ(map.cheapest(101, {0, 100}, cost, anywhere, false), std::nullopt);
  EXPECT_EQ(map.cheapest(30, {0, 40}, never, anywhere, false), std::nullopt);

  map.occupy({50, 50}, 3, evict);
  ASSERT_EQ(map.segments().size(), 3U);
  EXPECT_EQ(map.segments()[1].tile, SpmMap::kDead);
  EXPECT_EQ(map.segments()[1].rows.rows, 10U);
  EXPECT_EQ(map.segments()[1].last.compute, 2) << "what evict said of tile 2";
  map.release(0, {7, 8});
  EXPECT_EQ(map.segments()[0].tile, SpmMap::kDead);
  EXPECT_EQ(map.segments()[0].last.store, 8);
}

/// By trying every row; `sum` is what a run costs.
template <typename Sum>
std::optional<std::uint32_t> tried_everywhere(std::uint32_t rows, RowRange area, bool from_top, const Sum &sum) {
  std::optional<std::uint32_t> best;
  double least = kInfinite;
  for (std::uint32_t first = area.first; first + rows <= area.end(); ++first)
    if (const double s = sum(RowRange{first, rows}); s < least || (s == least && s < kInfinite && from_top)) {
      least = s;
      best = first;
    }
  return best;
}

TEST(SpmMap, TheCheapestRunIsThatOfAllRows) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 2000; ++i) {
    const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(rng() % limit); };
    const std::uint32_t rows = 1 + below(60);
    SpmMap map(rows);
    for (std::int32_t tile = 0; tile < 20; ++tile) {
      const std::uint32_t first = below(rows);
      map.occupy({first, 1 + below(rows - first)}, tile, [](std::int32_t) { return LastUse{}; });
    }
    const std::uint32_t kinds = 1 + below(5); // few: many runs cost the same
    std::vector<double> costs;
    for (int tile = 0; tile < 21; ++tile)
      costs.push_back(below(8) == 0 ? kInfinite : below(kinds) / 3.0);
    const auto cost = [&](const SpmMap::Segment &s) { return costs[static_cast<std::size_t>(s.tile) + 1]; };
    const std::uint32_t dear = below(2 * rows); // rows from here on cost something by themselves
    const auto position = [&](RowRange r) { return r.end() - std::clamp(dear, r.first, r.end()) + 0.0; };
    const std::uint32_t first = below(rows);
    const RowRange area{first, 1 + below(rows - first)};
    const std::uint32_t wanted = 1 + below(area.rows);
    const auto sum = [&](RowRange run) {
      double all = 0;
      for (const SpmMap::Segment &s : map.segments())
        if (s.rows.first < run.end() && s.rows.end() > run.first) all += cost(s);
      return all + position(run);
    };
    for (const bool from_top : {false, true}) {
      const auto row = map.cheapest(wanted, area, cost, position, from_top);
      const auto best = tried_everywhere(wanted, area, from_top, sum);
      ASSERT_EQ(row.has_value(), best.has_value()) << i;
      if (row) {
        ASSERT_EQ(sum({*row, wanted}), sum({*best, wanted})) << i << ": row " << *row << ", not " << *best;
      }
    }
  }
}

TEST(SpmRows, CountsPanelsAndFormats) {
  EXPECT_EQ(spm_rows(10, 8, false, 8), 10U);
  EXPECT_EQ(spm_rows(10, 9, false, 8), 20U);
  EXPECT_EQ(spm_rows(10, 17, true, 8), 60U);
  EXPECT_EQ(spm_rows(3, 1, false, 8), 4U) << "rounded to even";
}

struct Planned {
  Machine npu = load_config("test8");
  Layer layer = make_layer(50, 40, 60);
  Layout layout;
  TimedPlan found;
  Planned() {
    npu.spm_bytes = 2048;
    npu.spm_banks = 1;
    layout = make_layout({layer}, Pass::kBackward, npu);
    found.plans = search(layer, Schedule::kDxMajor, Pass::kBackward, {}, layout, npu).front();
    found.program = allocate(found.plans, {layer}, layout, npu).value();
  }
  std::string damaged(const std::function<void(std::vector<Action> &, TileForms &)> &damage) const {
    Program broken = found.program;
    damage(broken.actions, broken.forms);
    return verify_program(broken, layout, npu);
  }
  /// Index of the n-th action that `wanted` accepts.
  template <typename F> std::size_t pick(F wanted, std::size_t n = 0) const {
    for (std::size_t i = 0; i < found.program.actions.size(); ++i)
      if (wanted(found.program.actions[i]) && n-- == 0) return i;
    throw std::logic_error("no such action");
  }
};

bool is_gemm(const Action &a) { return a.kind == Action::Kind::kGemm; }
bool is_load(const Action &a) { return a.kind == Action::Kind::kLoad; }

TEST(VerifyProgram, AcceptsWhatAllocateMakes) {
  const Planned p;
  EXPECT_EQ(verify_program(p.found.program, p.layout, p.npu), "");
}

TEST(VerifyProgram, NamesEveryDamage) {
  const Planned p;
  const auto erase = [](std::vector<Action> &actions, std::size_t i) {
    actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(i));
  };
  const auto reload = p.pick([](const Action &a) { return is_load(a) && a.spill; });
  const auto with_sum = p.pick([](const Action &a) { return is_gemm(a) && a.acc; });
  const std::vector<std::pair<const char *, std::function<void(std::vector<Action> &, TileForms &)>>> cases{
      {"does not hold", [&](auto &a, auto & /*forms*/) { erase(a, p.pick(is_load)); }},
      {"GEMMs and ADDs for",
       [&](auto &a, auto & /*forms*/) {
         a.erase(a.begin() + static_cast<std::ptrdiff_t>(p.pick(is_gemm, p.found.program.products.size() - 1)),
                 a.end());
       }},
      {"is out of order", [&](auto &a, auto & /*forms*/) { a[p.pick(is_gemm)].product = 1; }},
      {"ends at row", [&](auto &a, auto & /*forms*/) { a[p.pick(is_load)].place.row = p.npu.spm_rows() - 2; }},
      {"does not suit its size",
       [&](auto &a, auto &forms) {
         Spot &spot = a[p.pick(is_load)].place;
         TileForm form = forms[spot.form];
         form.pstride += 2;
         spot.form = forms.number_of(form);
       }},
      {"does not suit its size", [&](auto &a, auto & /*forms*/) { a[p.pick(is_load)].place.row += 1; }},
      {"which is no input",
       [&](auto &a, auto & /*forms*/) { a[p.pick(is_load)].binding = p.layout.place(0, Tensor::kDX); }},
      {"were not spilled there", [&](auto &a, auto & /*forms*/) { a[reload].memory.address += 1 << 20; }},
      {"stores rows that do not hold",
       [&](auto &a, auto & /*forms*/) {
         a[p.pick([](const Action &x) { return x.kind == Action::Kind::kStore; })].row += 1;
       }},
      {"lacks initial values", [&](auto &a, auto & /*forms*/) { a[with_sum].acc = false; }},
      {"does not hold",
       [&](auto &a, auto &forms) {
         Spot &spot = a[p.pick(is_gemm)].in.a;
         spot.row = p.npu.spm_rows() - forms[spot.form].place_rows;
       }},
  };
  for (const auto &[message, damage] : cases)
    EXPECT_NE(p.damaged(damage).find(message), std::string::npos) << message << " / " << p.damaged(damage);
}

TEST(Fits, MatchesWhatAllocateCanDo) {
  const Machine npu = load_config("test8");
  const Layer layer = make_layer(40, 40, 40);
  const Layout layout = make_layout({layer}, Pass::kBackward, npu);
  const RowRange all{0, npu.spm_rows()};
  for (const std::uint32_t side : {5U, 8U, 13U, 16U, 24U, 40U}) {
    PhasePlan plan;
    plan.kind = PhaseKind::kDxMajor;
    plan.tile = {side, side, side};
    plan.loops = form_of(plan.kind).loops.front();
    plan.split = {all, all, all};
    plan.products = make_order(plan.kind, plan.loops, plan.tile, layer, whole(layer));
    EXPECT_EQ(fits(plan.kind, plan.tile, plan.split, layer, npu), allocate({plan}, {layer}, layout, npu).has_value())
        << side;
  }
}

} // namespace
} // namespace gradweave::compiler
