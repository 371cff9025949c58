#include "compiler/search/phase_search.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/cost/estimate/splits.hpp"
#include "compiler/cost/estimate/tile_estimate.hpp"
#include "compiler/lower/dram_bytes.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/request/error.hpp"
#include "compiler/spm/action_writer.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler {
namespace {

/// Tilings and orders of a phase that are played at all.
constexpr std::size_t kPlayed = 4000;
/// Tilings that are tried with other splits, windows and policies.
constexpr std::size_t kTilings = 12;
/// A plan this near the bound of its phase ends the search for tilings.
constexpr double kCloseEnough = 1.002;

} // namespace

bool PhaseSearch::Ranking::is_full() const { return ranked.size() == kPlayed; }

void PhaseSearch::Ranking::add(const Ranked &r) {
  if (!is_full()) {
    ranked.push_back(r);
    if (is_full()) std::make_heap(ranked.begin(), ranked.end());
  } else if (r < ranked.front()) {
    ranked.push_back(r);
    std::pop_heap(ranked.begin(), ranked.end());
    ranked.pop_back();
  }
}

void PhaseSearch::Ranking::sort() {
  if (!is_full()) std::make_heap(ranked.begin(), ranked.end());
  std::sort_heap(ranked.begin(), ranked.end());
}

PhaseSearch::PhaseSearch(PhaseKind kind, const PhaseParts &parts, const TileShape &fixed, std::uint64_t budget,
                         const Layer &layer, const Layer &whole, const Layout &layout, const Machine &npu,
                         const std::function<void()> &tried)
    : kind_(kind), parts_(parts), fixed_(fixed), budget_(budget), layer_(layer), whole_(whole), layers_{layer},
      part_(part_of(layer, parts, npu)), layout_(layout), npu_(npu), tried_(tried), estimate_(npu) {}

PhaseSearch::Ranking PhaseSearch::ranking() const {
  const auto sides = [&](std::uint32_t fixed, Dim dim) {
    return fixed > 0 ? std::vector<std::uint32_t>{fixed} : sides_along(kind_, dim, part_, npu_);
  };
  const auto ms = sides(fixed_.m, Dim::kM), ks = sides(fixed_.k, Dim::kK), ns = sides(fixed_.n, Dim::kN);
  const RowRange all{0, npu_.spm_rows()};
  Ranking ranking;
  std::uint64_t fewest = ~std::uint64_t{0};
  for (const std::uint32_t m : ms)
    for (const std::uint32_t k : ks)
      for (const std::uint32_t n : ns) {
        const TileShape tile{m, k, n};
        if (ranking.is_full() && least_estimate(tile) >= ranking.worst()) continue;
        if (!fits(kind_, tile, {all, all, all}, part_, npu_, parts_)) continue;
        const std::uint64_t products = product_count(kind_, tile, whole_);
        fewest = std::min(fewest, products);
        if (products <= kMostProducts) add_orders(tile, ranking);
      }
  if (ranking.ranked.empty() && fixed_ == TileShape{}) {
    if (fewest == ~std::uint64_t{0}) refuse_scratchpad(whole_, npu_);
    check_products(fewest, whole_, npu_);
  }
  ranking.sort();
  return ranking;
}

double PhaseSearch::least_estimate(const TileShape &tile) const {
  return parts_.by_turns() ? least_estimate_together(kind_, tile, part_, npu_, parts_.dim, parts_.cores)
                           : compiler::least_estimate(kind_, tile, part_, npu_);
}

std::vector<RoughEstimate> PhaseSearch::estimates(const TileShape &tile, const std::vector<LoopOrder> &orders) const {
  return parts_.by_turns() ? rough_estimates_together(kind_, orders, tile, part_, npu_, parts_.dim, parts_.cores)
                           : rough_estimates(kind_, orders, tile, part_, npu_, parts_.cores);
}

void PhaseSearch::add_orders(const TileShape &tile, Ranking &ranking) const {
  const std::vector<LoopOrder> &orders = form_of(kind_).loops;
  const std::vector<RoughEstimate> rough = estimates(tile, orders);
  // The same in all orders.
  const double bound =
      parts_.count > 1 ? static_cast<double>(plan_cycles(plan_of(tile, orders.front()).plan, layer_, npu_)) : 0;
  const auto index = static_cast<std::uint32_t>(ranking.tiles.size());
  for (std::uint32_t i = 0; i < orders.size(); ++i)
    ranking.add({rough[i].cycles, parts_.count > 1 ? bound : rough[i].bound, index, i});
  ranking.tiles.push_back(tile);
}

Candidate PhaseSearch::plan_of(const TileShape &tile, const LoopOrder &loops) const {
  Candidate c;
  c.plan.kind = kind_;
  c.plan.parts = parts_;
  c.plan.tile = tile;
  c.plan.loops = loops;
  c.plan.window = 1;
  return c;
}

const TileWalk &PhaseSearch::walk_of(const PhasePlan &plan) {
  PhasePlan &walked = walked_.front();
  if (!walk_ || !(walked.tile == plan.tile) ||
      loops_that_turn(walked.loops, plan.tile, layer_) != loops_that_turn(plan.loops, plan.tile, layer_)) {
    walked = plan;
    walked.products = plan_products(plan, layer_, npu_);
    walk_.emplace(walked_, layers_, layout_, npu_);
    estimate_.set_products(walked_, *walk_);
  }
  walked.split = plan.split;
  walked.window = plan.window;
  walked.policy = plan.policy;
  return *walk_;
}

PlayedPlan PhaseSearch::place_and_estimate(const PhasePlan &plan, std::uint64_t limit) {
  PlayedPlan played;
  played.limit = limit;
  const TileWalk &walk = walk_of(plan);
  played.products = walked_.front().products.size();
  if (!estimate_.begin(limit)) {
    played.work = played.products;
    return played;
  }
  const auto program = allocate(walked_, walk, traffic_limit(limit, false, npu_), &played.work,
                                limit == kTooSlow ? nullptr : &estimate_);
  if (!program) return played;
  played.placed = true;
  played.work = program->work();
  played.bytes = moved_bytes(*program, npu_);
  played.cycles = estimate_.end(*program);
  return played;
}

void PhaseSearch::play(Candidate candidate) {
  if (tried_) tried_();
  const PhasePlan &plan = candidate.plan;
  if (!rows_ || !(rows_of_ == plan.tile)) {
    rows_.emplace(kind_, plan.tile, part_, npu_, parts_);
    rows_of_ = plan.tile;
  }
  if (!rows_->fit(plan.split)) return;
  // Only one of a tiling and an order is kept, so that the best plans stay different.
  const auto twin = std::find_if(found_.begin(), found_.end(), [&](const Candidate &c) {
    return c.plan.tile == plan.tile && c.plan.loops == plan.loops;
  });
  std::uint64_t limit = kTooSlow; // from there on, nothing comes of it
  if (twin != found_.end())
    limit = static_cast<std::uint64_t>(twin->cycles);
  else if (found_.size() == kTilings)
    limit = static_cast<std::uint64_t>(found_.back().cycles);
  const PlayedPlan *known = known_.find(plan, layer_, limit, traffic_limit(limit, false, npu_).bytes);
  const PlayedPlan played = known != nullptr ? *known : place_and_estimate(plan, limit);
  if (known == nullptr) known_.keep(plan, layer_, played);
  played_ += played.work;
  if (!played.placed || played.cycles >= limit) return;
  candidate.cycles = static_cast<double>(played.cycles);
  if (twin != found_.end()) found_.erase(twin);
  const auto at = std::upper_bound(found_.begin(), found_.end(), candidate.cycles,
                                   [](double value, const Candidate &c) { return value < c.cycles; });
  found_.insert(at, std::move(candidate));
  if (found_.size() > kTilings) found_.pop_back();
}

std::vector<Candidate> PhaseSearch::run() {
  const Ranking all = ranking();
  double bound = std::numeric_limits<double>::infinity();
  for (const Ranked &r : all.ranked)
    bound = std::min(bound, r.bound);
  for (const Ranked &r : all.ranked) {
    if ((played_ > budget_ / 2 && !found_.empty()) || best() < kCloseEnough * bound) break;
    if (r.bound > best()) continue;
    const LoopOrder &loops = form_of(kind_).loops[r.order];
    Candidate c = plan_of(all.tiles[r.tile], loops);
    c.rough = estimates(c.plan.tile, {loops}).front();
    for (const SpmSplit &split : splits_near(c.rough, npu_, 0)) {
      c.plan.split = split;
      play(c);
    }
  }
  for (Candidate c : std::vector<Candidate>(found_))
    for (const std::uint32_t window : {1U, 2U, 3U, 4U, 6U})
      for (const SpmSplit &split : splits_near(c.rough, npu_, window == 1 ? 2 : 1)) {
        c.plan.split = split;
        c.plan.window = window;
        play_in_budget(c, budget_ * 3 / 4);
      }
  for (Candidate c : std::vector<Candidate>(found_))
    for (const double reload : {1.0, 4.0, 32.0})
      for (const double conflict : {0.3, 1.0, 3.0, 10.0}) {
        c.plan.policy = {reload, conflict};
        play_in_budget(c, budget_);
      }
  return std::move(found_);
}

} // namespace gradweave::compiler
