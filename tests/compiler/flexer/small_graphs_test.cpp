// Flexer's list scheduler against all that it could choose, on graphs that are small enough.
#include "compiler/cost/cost.hpp"
#include "compiler/flexer/list_schedule.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/layer_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace gradweave::compiler::flexer {
namespace {

constexpr std::uint32_t kCores = 2;

/// A forward pass in tiles, in a scratchpad of so many rows; 0: of as many as there are.
struct Graph {
  Graph(const Layer &l, const TileShape &tile, std::uint32_t rows)
      : npu(load_config("test8c2")), layers{l}, layout(make_layout(layers, Pass::kForward, npu)), plans(1) {
    if (rows > 0) {
      npu.spm_bytes = rows * 16;
      npu.spm_banks = rows / 8;
    }
    plans[0].kind = PhaseKind::kForward;
    plans[0].tile = tile;
    plans[0].loops = {Dim::kM, Dim::kN, Dim::kK};
    plans[0].products = make_order(plans[0].kind, plans[0].loops, tile, l, whole(l));
    walk.emplace(plans, layers, layout, npu);
  }

  Machine npu;
  std::vector<Layer> layers;
  Layout layout;
  std::vector<PhasePlan> plans;
  std::optional<TileWalk> walk;
};

/// All sequences of sets of ready operations, each with Flexer's own memory management, judged by the timing model.
class AllSets {
public:
  explicit AllSets(const Graph &graph) : graph_(graph) {}

  /// Cycles of the best.
  std::uint64_t run() {
    do
      play();
    while (go_on());
    return best_;
  }
  std::uint64_t tried() const { return tried_; }

private:
  /// A choice among so many.
  struct Pick {
    std::size_t at = 0, of = 0;
  };

  static std::vector<OperationSet> sets_of(const std::vector<std::int32_t> &ready) {
    std::vector<OperationSet> sets;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      sets.push_back({{ready[i]}, 1});
      for (std::size_t j = i + 1; j < ready.size(); ++j)
        sets.push_back({{ready[i], ready[j]}, kCores});
    }
    return sets;
  }
  /// With the picks that there are, and the first set of each step behind them.
  void play() {
    std::size_t step = 0;
    const auto program =
        list_schedule(graph_.plans, *graph_.walk, {}, kCores, ~std::uint64_t{0}, nullptr, [&](const auto &ready) {
          const std::vector<OperationSet> sets = sets_of(ready);
          if (step == picks_.size()) picks_.push_back({0, sets.size()});
          return sets[picks_[step++].at];
        });
    picks_.resize(step); // the last set of these may have found no room
    if (!program) return;
    ++tried_;
    const std::uint64_t cycles = program_cycles(*program, graph_.npu, best_);
    best_ = std::min(best_, cycles);
  }
  bool go_on() {
    while (!picks_.empty() && picks_.back().at + 1 == picks_.back().of)
      picks_.pop_back();
    if (picks_.empty()) return false;
    ++picks_.back().at;
    return true;
  }

  const Graph &graph_;
  std::vector<Pick> picks_;
  std::uint64_t best_ = kTooSlow, tried_ = 0;
};

/// Never better than the best choice of sets, and at most so many percent slower (docs/flexer.md).
TEST(ListSchedule, IsNearTheBestOfAllSetsOfSmallGraphs) {
  struct Small {
    Layer layer;
    TileShape tile;
  };
  const std::vector<Small> all{{make_layer(16, 16, 8), {8, 8, 8}},   // two sums of two products
                               {make_layer(16, 32, 16), {8, 32, 8}}, // four products
                               {make_layer(24, 40, 16), {8, 40, 8}}, // six
                               {make_layer(16, 32, 8), {8, 8, 8}},   // two sums of four
                               {make_layer(16, 16, 16), {8, 8, 8}}}; // four of two
  double worst = 0;
  std::size_t gaps = 0;
  for (const Small &small : all)
    for (const std::uint32_t rows : {0U, 96U, 48U}) {
      const Graph graph(small.layer, small.tile, rows);
      const auto program = list_schedule(graph.plans, *graph.walk, {}, kCores);
      if (!program) continue; // an operation does not fit
      EXPECT_EQ(verify_program(*program, graph.layout, graph.npu), "");
      AllSets sets(graph);
      const std::uint64_t best = sets.run(), listed = program_cycles(*program, graph.npu);
      const double gap = 100 * (static_cast<double>(listed) / static_cast<double>(best) - 1);
      fmt::print("{}, {} products, {} rows, {} schedules: best {}, Flexer {}, {:.1f} % more\n", small.layer.name,
                 program->products.size(), graph.npu.spm_rows(), sets.tried(), best, listed, gap);
      EXPECT_GE(listed, best);
      worst = std::max(worst, gap);
      gaps += gap > 0 ? 1 : 0;
    }
  EXPECT_LE(worst, 40);
  EXPECT_GT(gaps, 0U) << "the best of all is no better anywhere: are all sets tried?";
}

} // namespace
} // namespace gradweave::compiler::flexer
