// Orders of tile products, and the check that refuses broken ones.
#include "compiler/ir/grid/grid.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/layer_run.hpp"

namespace gradweave::compiler {
namespace {

const Layer kLayer = make_layer(10, 7, 5);
const TileShape kTile{4, 3, 2};

std::vector<TileProduct> order(PhaseKind kind) {
  return make_order(kind, form_of(kind).loops.front(), kTile, kLayer, whole(kLayer));
}

TEST(Order, EveryPhaseAndLoopOrderIsComplete) {
  for (const PhaseKind kind : {PhaseKind::kInterleave, PhaseKind::kDxMajor, PhaseKind::kDwMajor})
    for (const LoopOrder &loops : form_of(kind).loops) {
      const auto products = make_order(kind, loops, kTile, kLayer, whole(kLayer));
      EXPECT_EQ(verify_order(products, kLayer, Pass::kBackward), "") << to_string(loops);
      EXPECT_EQ(products.size(), product_count(kind, kTile, kLayer));
    }
  Layer no_dx = kLayer;
  no_dx.dx = false;
  for (const LoopOrder &loops : all_loop_orders()) {
    EXPECT_EQ(verify_order(make_order(PhaseKind::kDw, loops, kTile, no_dx, whole(no_dx)), no_dx, Pass::kBackward), "");
    EXPECT_EQ(
        verify_order(make_order(PhaseKind::kForward, loops, kTile, kLayer, whole(kLayer)), kLayer, Pass::kForward), "");
  }
}

/// The dY tiles in the order in which dX (or dW) products read them, without repetitions in a row.
std::vector<std::pair<std::uint32_t, std::uint32_t>> dy_walk(PhaseKind kind, Tensor result) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> walk;
  for (const TileProduct &p : order(kind))
    if (p.result == result && (walk.empty() || walk.back() != std::pair{p.m, p.n})) walk.emplace_back(p.m, p.n);
  return walk;
}

TEST(Order, MajorSchedulesWalkDyOnceForBothProducts) {
  const auto rows = dy_walk(PhaseKind::kDxMajor, Tensor::kDX);
  EXPECT_EQ(rows, dy_walk(PhaseKind::kDxMajor, Tensor::kDW));
  EXPECT_EQ(rows.size(), 9U);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end())) << "row-major";

  auto columns = dy_walk(PhaseKind::kDwMajor, Tensor::kDX);
  EXPECT_EQ(columns, dy_walk(PhaseKind::kDwMajor, Tensor::kDW));
  EXPECT_EQ(columns.size(), 9U);
  for (auto &[m, n] : columns)
    std::swap(m, n);
  EXPECT_TRUE(std::is_sorted(columns.begin(), columns.end())) << "column-major";
}

TEST(Order, FusedSchedulesAlternate) {
  for (const PhaseKind kind : {PhaseKind::kInterleave, PhaseKind::kDxMajor, PhaseKind::kDwMajor}) {
    const auto products = order(kind);
    for (std::size_t i = 0; i < products.size(); ++i)
      EXPECT_EQ(products[i].result, i % 2 == 0 ? Tensor::kDX : Tensor::kDW);
  }
}

TEST(Order, AlgorithmOne) {
  EXPECT_EQ(resolve(Schedule::kRearrange, make_layer(100, 100, 399)), Schedule::kInterleave);
  EXPECT_EQ(resolve(Schedule::kRearrange, make_layer(100, 100, 400)), Schedule::kDxMajor);
  EXPECT_EQ(resolve(Schedule::kRearrange, make_layer(100, 400, 100)), Schedule::kDwMajor);
  EXPECT_EQ(resolve(Schedule::kRearrange, make_layer(400, 400, 100)), Schedule::kDxMajor);
  EXPECT_EQ(resolve(Schedule::kRearrange, make_layer(400, 100, 100)), Schedule::kDxMajor);
  EXPECT_EQ(resolve(Schedule::kSequential, make_layer(100, 400, 100)), Schedule::kSequential);
}

TEST(Order, FirstLayerHasOnlyDw) {
  const Layer first = make_layer(8, 8, 8, false);
  for (const Schedule s : all_schedules())
    EXPECT_EQ(phases(resolve(s, first), Pass::kBackward, first), std::vector<PhaseKind>{PhaseKind::kDw});
}

struct Broken {
  const char *message;
  void (*damage)(std::vector<TileProduct> &);
};

TEST(VerifyOrder, NamesEveryDamage) {
  const std::vector<Broken> cases{
      {"continues the reduction", [](auto &p) { std::swap(p[0], p[2]); }},
      {"ends at", [](auto &p) { p.pop_back(); }},
      {"continues the reduction", [](auto &p) { p.push_back(p[0]); }},
      {"empty or outside", [](auto &p) { p[3].m_size = 0; }},
      {"empty or outside", [](auto &p) { p[3].k_size = 0; }},
      {"empty or outside", [](auto &p) { p[3].n_size = 0; }},
      {"empty or outside", [](auto &p) { p[3].group = 1; }},
      {"empty or outside",
       [](auto &p) {
         p[3].k = 6;
         p[3].k_size = 2;
       }},
      {"is computed, which the pass does not need",
       [](auto &p) {
         TileProduct y;
         y.result = Tensor::kY;
         y.m_size = y.n_size = 1;
         y.k_size = 7;
         p.push_back(y);
       }},
      {"covers elements that another one does",
       [](auto &p) {
         for (TileProduct &q : p)
           if (q.result == Tensor::kDX && q.k == 3) q.k = 2;
       }},
      {"are missing",
       [](auto &p) {
         p.erase(std::remove_if(p.begin(), p.end(),
                                [](const TileProduct &q) { return q.result == Tensor::kDX && q.m == 4; }),
                 p.end());
       }},
  };
  for (const Broken &c : cases) {
    auto products = make_order(PhaseKind::kInterleave, {Dim::kN, Dim::kK, Dim::kM}, kTile, kLayer, whole(kLayer));
    c.damage(products);
    EXPECT_NE(verify_order(products, kLayer, Pass::kBackward).find(c.message), std::string::npos)
        << c.message << " / " << verify_order(products, kLayer, Pass::kBackward);
  }
}

TEST(VerifyTiling, RefusesSidesOutsideTheLayer) {
  EXPECT_EQ(verify_tiling(kTile, kLayer), "");
  EXPECT_NE(verify_tiling({0, 3, 2}, kLayer).find("tile side M of 10 is 0"), std::string::npos);
  EXPECT_NE(verify_tiling({4, 8, 2}, kLayer).find("tile side K of 7 is 8"), std::string::npos);
  EXPECT_NE(verify_tiling({4, 3, 65536}, make_layer(10, 7, 70000)).find("not 1 to 65535"), std::string::npos);
}

TEST(TileSides, RunFromWholeToOne) {
  for (const std::uint32_t extent : {1U, 7U, 45U, 312U, 1200U, 65536U, 16777216U}) {
    const auto sides = tile_sides(extent, 45, 16);
    EXPECT_EQ(sides.front(), std::min(extent, kMaxTileSide));
    EXPECT_EQ(sides.back(), 1U);
    EXPECT_TRUE(std::is_sorted(sides.rbegin(), sides.rend()));
    EXPECT_LT(sides.size(), 200U);
  }
}

} // namespace
} // namespace gradweave::compiler
