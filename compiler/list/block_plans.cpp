#include "compiler/list/block_plans.hpp"

#include "compiler/cost/cost.hpp"
#include "compiler/cost/estimate/estimate.hpp"
#include "compiler/cost/estimate/splits.hpp"
#include "compiler/cost/estimate/tile_estimate.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/ir/cut.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace gradweave::compiler::list {
namespace {

/// Tilings with blocks that are placed, those of the best closed-form estimates.
constexpr std::size_t kPlaced = 120;
/// Of those, with blocks of one size.
constexpr std::uint32_t kAlike = 4;
/// Blocks and areas that are scheduled, those of the best estimates move by move.
constexpr std::size_t kTried = 24;
constexpr std::array<std::uint32_t, 7> kTimes{1, 2, 3, 4, 6, 8, 12};
constexpr std::uint32_t kMostSums = 24; ///< tiles of a block

struct Candidate {
  TileShape tile;
  Block block;
  RoughEstimate rough;
  double cycles = 0;
};

/// Of a block as one tile whose products all cores compute together.
/// `shared`: the machine with so large a scratchpad that a core's part is the whole.
Candidate estimate(PhaseKind kind, const TileShape &tile, const Block &block, const Layer &layer, const Machine &npu,
                   const Machine &shared) {
  const Contraction &c = contraction_of(form_of(kind).results.front());
  Candidate found{tile, block, {}, 0};
  const LoopOrder loops = block.down ? LoopOrder{c.col, c.row, c.red} : LoopOrder{c.row, c.col, c.red};
  TileShape large = together(kind, tile, block);
  const TileShape largest = largest_tile(kind, layer);
  large = {std::min(large.m, largest.m), std::min(large.k, largest.k), std::min(large.n, largest.n)};
  found.rough = rough_estimate(kind, loops, large, layer, shared, npu.cores);
  const double sums = block.rows * block.cols;
  const double turns = static_cast<double>(divide_up(block.rows * block.cols, npu.cores)) * npu.cores / sums;
  const double arrays = static_cast<double>(phase_cycles(kind, tile, layer, npu)) / npu.cores;
  found.cycles = std::max(found.rough.cycles / npu.cores, arrays * (1 + 0.25 * (turns - 1)));
  return found;
}

/// Whether a product computes all terms of its results, whose sums then never lie in the scratchpad.
bool is_one_step(PhaseKind kind, const TileShape &tile, const Layer &layer) {
  const Dim red = contraction_of(form_of(kind).results.front()).red;
  return side_of(tile, red) >= side_of(largest_tile(kind, layer), red);
}

/// What a step of a block's reduction takes of the scratchpad: its operands, and all results of the block.
struct StepRows {
  std::uint32_t shared = 0, other = 0, results = 0;
};

StepRows rows_of_step(const std::vector<TileProduct> &products, const TileTable &table) {
  StepRows rows;
  const Contraction &c = contraction_of(products.front().result);
  for (std::size_t i = 0; i < products.size(); ++i) {
    const Needs &needs = table.needs[i];
    const auto count = [&](std::size_t slot, std::uint32_t &sum) {
      const Tile &t = table.tiles[static_cast<std::size_t>(needs.tile[slot])];
      if (t.first_use == i) sum += t.rows;
    };
    count(Needs::kA, c.a == c.shared ? rows.shared : rows.other);
    count(Needs::kB, c.a == c.shared ? rows.other : rows.shared);
    count(Needs::kCout, rows.results);
  }
  return rows;
}

std::uint64_t tiles_along(PhaseKind kind, Dim dim, const TileShape &tile, const Layer &layer) {
  return range_count(layer, form_of(kind).results.front(), dim, side_of(tile, dim));
}

/// Which operands of a block the next one has again.
struct Stays {
  bool shared = false, other = false;
};

Stays operands_that_stay(PhaseKind kind, const Candidate &c, const Layer &layer) {
  const Contraction &form = contraction_of(form_of(kind).results.front());
  if (!is_one_step(kind, c.tile, layer)) return {}; // each step has others
  const bool all_rows = c.block.rows >= tiles_along(kind, form.row, c.tile, layer);
  const bool all_cols = c.block.cols >= tiles_along(kind, form.col, c.tile, layer);
  const bool a = all_rows || (!c.block.down && !all_cols), b = all_cols || (c.block.down && !all_rows);
  return form.a == form.shared ? Stays{a, b} : Stays{b, a};
}

class BlockSearch {
public:
  BlockSearch(PhaseKind kind, const std::vector<Layer> &layers, const Layout &layout, const Machine &npu)
      : kind_(kind), layers_(layers), layout_(layout), npu_(npu) {}

  std::vector<ListPlan> run() const;

private:
  const Layer &layer() const { return layers_.front(); }
  std::vector<Candidate> candidates() const;
  bool place(Candidate &c) const;
  std::uint64_t estimated(const ListPlan &plan, std::uint64_t most) const;

  PhaseKind kind_;
  const std::vector<Layer> &layers_;
  const Layout &layout_;
  const Machine &npu_;
};

/// The candidate's areas, if a step of its first block fits with half of the operands that the next one has besides.
bool BlockSearch::place(Candidate &c) const {
  std::vector<PhasePlan> phases(1);
  phases.front().kind = kind_;
  phases.front().tile = c.tile;
  std::vector<TileProduct> &products = phases.front().products;
  products = first_step(kind_, c.tile, c.block, layer());
  const TileWalk walk(phases, layers_, layout_, npu_);
  const StepRows rows = rows_of_step(products, walk.table());
  const Stays stays = operands_that_stay(kind_, c, layer());
  double results = rows.results;
  if (is_one_step(kind_, c.tile, layer())) // each leaves as soon as it is there: one is computed while another leaves
    results *= std::min(1.0, 2.0 * npu_.cores / static_cast<double>(products.size()));
  const std::uint32_t next = (stays.shared ? 0 : rows.shared) + (stays.other ? 0 : rows.other);
  const double left = npu_.spm_rows() - results - rows.shared - rows.other;
  if (left < 0.5 * next) return false;
  const double spare = next == 0 ? 0 : std::min(1.0, left / next); // share of the next operands that can be there
  c.rough.shared_rows = rows.shared * (stays.shared ? 1 : 1 + spare);
  c.rough.other_rows = rows.other * (stays.other ? 1 : 1 + spare);
  c.rough.result_rows = results;
  return true;
}

std::vector<Candidate> BlockSearch::candidates() const {
  const auto sides = [&](Dim dim) { return sides_along(kind_, dim, layer(), npu_); };
  const std::vector<std::uint32_t> ms = sides(Dim::kM), ks = sides(Dim::kK), ns = sides(Dim::kN);
  const Contraction &c = contraction_of(form_of(kind_).results.front());
  Machine shared = npu_;
  shared.spm_bytes *= npu_.cores;
  std::vector<Candidate> found;
  for (const std::uint32_t m : ms)
    for (const std::uint32_t k : ks)
      for (const std::uint32_t n : ns) {
        const TileShape tile{m, k, n};
        if (product_count(kind_, tile, layer()) > kMostListed) continue;
        const std::uint64_t most_rows = tiles_along(kind_, c.row, tile, layer());
        const std::uint64_t most_cols = tiles_along(kind_, c.col, tile, layer());
        for (const std::uint32_t rows : kTimes)
          for (const std::uint32_t cols : kTimes) {
            const std::uint64_t sums = 4ULL * rows * cols * side_of(tile, c.row) * side_of(tile, c.col);
            if (rows > most_rows || cols > most_cols || rows * cols > kMostSums ||
                (sums > npu_.spm_bytes && !is_one_step(kind_, tile, layer())))
              continue;
            for (const bool down : {false, true})
              found.push_back(estimate(kind_, tile, {rows, cols, down}, layer(), npu_, shared));
          }
      }
  std::sort(found.begin(), found.end(), [](const Candidate &x, const Candidate &y) { return x.cycles < y.cycles; });
  std::vector<Candidate> best;
  std::map<std::array<std::uint32_t, 3>, std::uint32_t> alike; // of one block, whatever its tiles
  for (Candidate &one : found) {
    if (best.size() == kPlaced) break;
    const TileShape large = together(kind_, one.tile, one.block);
    std::uint32_t &count = alike[{large.m, large.k, large.n}];
    if (count == kAlike || !place(one)) continue;
    ++count;
    best.push_back(one);
  }
  return best;
}

/// Of the candidates those that an estimate of each move and product finds fastest, in their preferred order.
std::vector<ListPlan> BlockSearch::run() const {
  const Contraction &result = contraction_of(form_of(kind_).results.front());
  std::vector<ListPlan> best; // by the estimate
  for (const Candidate &c : candidates())
    for (const SpmSplit &split : splits_near(c.rough, npu_, 0)) {
      ListPlan plan;
      plan.phase.kind = kind_;
      plan.phase.tile = c.tile;
      plan.phase.split = split;
      plan.phase.window = npu_.cores;
      plan.phase.loops = {result.row, result.col, result.red};
      plan.block = c.block;
      plan.cycles = estimated(plan, best.size() < kTried ? kTooSlow : best.back().cycles);
      if (plan.cycles == kTooSlow) continue;
      const auto at = std::upper_bound(best.begin(), best.end(), plan.cycles,
                                       [](std::uint64_t cycles, const ListPlan &p) { return cycles < p.cycles; });
      best.insert(at, std::move(plan));
      if (best.size() > kTried) best.pop_back();
    }
  return best;
}

/// Cycles of a plan that keeps its preferred order, estimated, if they are fewer than `most`; else kTooSlow.
std::uint64_t BlockSearch::estimated(const ListPlan &plan, std::uint64_t most) const {
  if (!fits(kind_, plan.phase.tile, plan.phase.split, layer(), npu_, plan.phase.parts)) return kTooSlow;
  std::vector<PhasePlan> phases{plan.phase};
  phases.front().products = blocked_products(kind_, plan.phase.tile, *plan.block, layer(), npu_.cores);
  const auto program = allocate(phases, layers_, layout_, npu_, traffic_limit(most, true, npu_));
  if (!program) return kTooSlow;
  const std::uint64_t cycles = estimate_cycles(*program, npu_, most);
  return cycles < most ? cycles : kTooSlow;
}

} // namespace

std::vector<ListPlan> block_plans(PhaseKind kind, const std::vector<Layer> &layers, const Layout &layout,
                                  const Machine &npu) {
  return BlockSearch(kind, layers, layout, npu).run();
}

} // namespace gradweave::compiler::list
