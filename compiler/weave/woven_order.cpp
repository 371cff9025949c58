#include "compiler/weave/woven_order.hpp"

#include "compiler/cost/cost.hpp"
#include "compiler/ir/fused.hpp"
#include "compiler/request/error.hpp"
#include "compiler/spm/residency.hpp"
#include "compiler/weave/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace gradweave::compiler {
namespace {

/// A product of a job: its phase among all plans, and its number there.
struct Product {
  std::size_t plan = 0, product = 0;
};

/// Where a pace is when the rule's order is at a share of all.
double paced(const Pace &pace, double share) {
  if (pace.empty()) return share;
  const double at = share * static_cast<double>(pace.size() - 1);
  const auto piece = std::min(static_cast<std::size_t>(at), pace.size() - 2);
  return pace[piece] + (at - static_cast<double>(piece)) * (pace[piece + 1] - pace[piece]);
}

/// Turns by their paced places in the order.
std::vector<Turn> stretched(std::vector<Turn> turns, const std::vector<Pace> &paces) {
  if (paces.empty()) return turns;
  std::vector<std::pair<double, std::size_t>> places;
  for (std::size_t i = 0; i < turns.size(); ++i)
    places.emplace_back(paced(paces[turns[i].job], static_cast<double>(i) / static_cast<double>(turns.size())), i);
  std::sort(places.begin(), places.end()); // paces rise, so that those of a job keep their order
  std::vector<Turn> sorted;
  sorted.reserve(turns.size());
  for (const auto &[place, i] : places)
    sorted.push_back(turns[i]);
  return sorted;
}

void add_product(std::vector<Slice> &slices, const Product &at) {
  if (!slices.empty() && slices.back().plan == at.plan && slices.back().end == at.product)
    ++slices.back().end;
  else
    slices.push_back({at.plan, at.product, at.product + 1, at.plan, at.product == 0});
}

/// Adds products; a section of the vector unit that is under way is brought to its end before another one begins.
class OneSectionAtATime {
public:
  OneSectionAtATime(const std::vector<PhasePlan> &plans, std::vector<Slice> &slices)
      : plans_(plans), slices_(slices), taken_(plans.size(), 0) {}

  void add(const Product &at) {
    const bool of_unit = plans_[at.plan].section != nullptr;
    if (of_unit && at.product < taken_[at.plan]) return; // it was brought forward
    if (of_unit && under_way_ != kNone && under_way_ != at.plan)
      while (under_way_ != kNone)
        take(under_way_);
    if (of_unit)
      take(at.plan);
    else
      add_product(slices_, at);
  }

private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  void take(std::size_t plan) {
    add_product(slices_, {plan, taken_[plan]++});
    under_way_ = taken_[plan] == plans_[plan].products.size() ? kNone : plan;
  }

  const std::vector<PhasePlan> &plans_;
  std::vector<Slice> &slices_;
  std::vector<std::size_t> taken_; ///< products of each section so far
  std::size_t under_way_ = kNone;  ///< the section
};

} // namespace

/// The number of products before the end of each turn of a section.
std::vector<std::size_t> OrderPlayer::turn_ends(const WovenOrder &order, const PricedPlan &plan) const {
  std::vector<std::size_t> ends;
  double array = 0, memory = 0;
  for (std::size_t i = 0; i < plan.tiles.size(); ++i) {
    array += plan.tiles[i].array;
    memory += plan.tiles[i].memory;
    if (i + 1 < plan.tiles.size() && std::max(array, memory) < order.turn) continue;
    ends.push_back(i + 1);
    array = memory = 0;
  }
  return ends;
}

std::vector<std::vector<TileCost>> OrderPlayer::costs(const WovenOrder &order) const {
  std::vector<std::vector<TileCost>> costs(jobs_.size());
  for (std::size_t job = 0; job < jobs_.size(); ++job)
    for (std::size_t s = 0; s < jobs_.sections(job).size(); ++s) {
      const PricedPlan &plan = plan_of(order, job, s);
      std::size_t tile = 0;
      for (const std::size_t end : turn_ends(order, plan)) {
        TileCost turn;
        for (; tile < end; ++tile) {
          turn.array += plan.tiles[tile].array;
          turn.memory += plan.tiles[tile].memory;
        }
        costs[job].push_back(turn);
      }
    }
  return costs;
}

void OrderPlayer::add_phases(const WovenOrder &order, std::size_t job, std::size_t section,
                             std::vector<PhasePlan> &plans) const {
  const SectionChoice &choice = order.sections[job][section];
  const PricedPlan &priced = plan_of(order, job, section);
  const NpuConfig &npu = jobs_.tile_npu();
  const std::uint32_t layer = jobs_.sections(job)[section].layer;
  if (is_in_section(jobs_.layers(), layer)) {
    for (std::size_t i = 0; i < priced.phases.size(); ++i) {
      plans.push_back(priced.phases[i]);
      plans.back().layer = layer;
      plans.back().section = jobs_.vector_sections(jobs_.sections(job)[section])[i];
      plans.back().products = section_products(*plans.back().section, layer);
    }
    return;
  }
  const std::uint32_t shift = std::min(choice.shift, npu.spm_banks - priced.banks) * npu.bank_rows();
  for (const PhasePlan &phase : priced.phases) {
    PhasePlan plan = phase;
    plan.layer = layer;
    for (TileProduct &p : plan.products)
      p.layer = layer;
    plan.window *= choice.windows;
    for (RowRange *area : {&plan.split.shared, &plan.split.other, &plan.split.result}) {
      if (choice.areas == Areas::kAnywhere)
        *area = {0, npu.spm_rows()};
      else
        area->first += shift;
    }
    plan.starts_empty = choice.areas == Areas::kAlone && std::isinf(order.turn) && &phase == &priced.phases.front();
    plans.push_back(std::move(plan));
  }
}

OrderPlayer::Sequence OrderPlayer::sequence(const WovenOrder &order) const {
  Sequence sequence;
  std::vector<std::vector<std::vector<Product>>> products(jobs_.size()); // by job and turn
  for (std::size_t job = 0; job < jobs_.size(); ++job)
    for (std::size_t s = 0; s < jobs_.sections(job).size(); ++s) {
      const std::size_t first = sequence.plans.size();
      add_phases(order, job, s, sequence.plans);
      std::size_t plan = first, product = 0, count = 0;
      for (const std::size_t end : turn_ends(order, plan_of(order, job, s))) {
        products[job].emplace_back();
        for (; count < end; ++count) {
          for (; product == sequence.plans[plan].products.size(); product = 0)
            ++plan;
          products[job].back().push_back({plan, product++});
        }
      }
    }
  std::vector<Turn> turns =
      order.balance > 0 ? balance(costs(order), order.balance) : merge(costs(order), order.rule, jobs_.npu());
  OneSectionAtATime queue(sequence.plans, sequence.slices);
  for (const Turn &turn : stretched(std::move(turns), order.paces))
    for (const Product &product : products[turn.job][turn.item])
      queue.add(product);
  return sequence;
}

std::uint64_t OrderPlayer::cycles(const WovenOrder &order, std::uint64_t limit) const {
  Sequence s = sequence(order);
  const Machine &npu = jobs_.npu();
  const std::optional<Program> program =
      allocate(s.plans, TileWalk(s.plans, jobs_.layers(), jobs_.layout(), jobs_.tile_npu(), std::move(s.slices)),
               traffic_limit(limit, true, npu));
  if (!program || program->room().bytes() > npu.memory.size_bytes || program_bound(*program, npu) >= limit)
    return kTooSlow;
  return program_cycles(*program, npu, limit);
}

TimedPlan OrderPlayer::time(const WovenOrder &order) const {
  Sequence s = sequence(order);
  const Machine &npu = jobs_.npu();
  std::optional<Program> program =
      allocate(s.plans, TileWalk(s.plans, jobs_.layers(), jobs_.layout(), jobs_.tile_npu(), std::move(s.slices)));
  if (!program) throw std::logic_error("an order that fits does not");
  for (PhasePlan &plan : s.plans)
    plan.products = {}; // the program has them
  const std::uint64_t cycles = program_cycles(*program, npu);
  return {std::move(s.plans), std::move(*program), cycles};
}

} // namespace gradweave::compiler
