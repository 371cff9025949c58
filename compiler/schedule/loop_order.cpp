// flexer_cgo23's baseline (section 3, figures 3 and 5): a loop order, its innermost loop unrolled over the cores, and a
// region of the scratchpad each for input, weights and sums.
#include "compiler/back/known_schedule.hpp"
#include "compiler/back/layer_scheduler.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/cost/estimate/splits.hpp"
#include "compiler/cost/estimate/tile_estimate.hpp"
#include "compiler/flexer/phase_choice.hpp"
#include "compiler/flexer/tilings.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/spm/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

namespace gradweave::compiler {
namespace {

using flexer::Metric;
using flexer::PhaseChoice;
using flexer::Tiling;

/// Loop orders of tilings that are tried, those of the best estimates: three for each of the search's plans.
std::size_t ways_for(const CompileOptions &options) { return std::max<std::uint64_t>(1, options.plans * 3); }
/// Of those, the best by a closer estimate are timed, with more regions and load windows.
constexpr std::size_t kRefined = 8;

class LoopOrderScheduler final : public LayerScheduler {
public:
  Schedule name() const override { return Schedule("loop_order"); }
  std::string_view summary() const override {
    return "Flexer's baseline: the best loop order, its innermost loop over all cores, a region for each operand";
  }

protected:
  /// Throws CompileError if a partition is asked for, or if no tiling fits in regions of its own.
  Scheduled schedule_layer(const SchedulingProblem &problem) const override;
};

/// The loops along which cores may take tiles by turns: the innermost that turns; where that is the reduction, whose
/// operations wait for one another, also the innermost of the others.
std::vector<Dim> unrolled(const LoopOrder &loops, PhaseKind kind, const TileShape &tile, const Layer &layer) {
  const Dim red = contraction_of(form_of(kind).results.front()).red;
  const LoopOrder turning = loops_that_turn(loops, tile, layer);
  const TileShape largest = largest_tile(kind, layer);
  std::vector<Dim> dims;
  for (std::size_t i = turning.size(); i-- > 0;) {
    if (side_of(tile, turning[i]) >= side_of(largest, turning[i])) continue;
    dims.push_back(turning[i]);
    if (turning[i] != red) break;
  }
  if (dims.empty()) dims.push_back(turning.back()); // one operation
  return dims;
}

/// Of one phase: the best by itself, or behind others.
class Baseline {
public:
  /// `before`: other phases of the layer, with their products.
  Baseline(PhaseKind kind, const SchedulingProblem &problem, std::vector<PhasePlan> before = {})
      : kind_(kind), problem_(problem), layer_(problem.layers.front()), before_(std::move(before)),
        choice_(problem.options.flexer_policy.metric, problem.npu) {}

  /// Throws CompileError if nothing fits.
  PhasePlan run();

private:
  /// By each metric, estimated.
  using Weights = std::array<double, 3>;
  static constexpr std::array<Metric, 3> kMetrics{Metric::kLatencyTimesData, Metric::kLatency, Metric::kData};
  struct Way {
    PhasePlan plan;
    RoughEstimate rough;
    Weights weight{};
  };

  Way way_of(const Tiling &tiling, const LoopOrder &loops, Dim dim) const;
  void add_orders(const Tiling &tiling, std::vector<Way> &ways) const;
  std::vector<std::vector<PhasePlan>> best_ways();
  std::vector<SpmSplit> regions(const Way &way, int reach) const;
  template <typename Judge>
  void play(const Way &way, int reach, const std::vector<std::uint32_t> &windows, const Judge &judge) const;
  std::uint64_t limit(double bytes) const;
  void estimate(Way way);
  void keep(const Way &way);
  std::vector<std::vector<PhasePlan>> ways_of_any_metric();

  PhaseKind kind_;
  const SchedulingProblem &problem_;
  const Layer &layer_;
  std::vector<PhasePlan> before_;
  PhaseChoice choice_;
  std::size_t estimated_ = 0;
  std::array<std::vector<Way>, 3> best_; ///< by the weight of each metric
};

bool is_apart(const SpmSplit &split) {
  return split.shared.end() <= split.other.first && split.other.end() <= split.result.first;
}

/// Regions up to `reach` banks from what the estimate wants that hold a product; if there are none, those further away.
std::vector<SpmSplit> Baseline::regions(const Way &way, int reach) const {
  constexpr int kFar = 6;
  const ProductRows rows(kind_, way.plan.tile, layer_, problem_.npu, way.plan.parts);
  std::vector<SpmSplit> splits;
  for (; splits.empty() && reach <= kFar; reach += 2) {
    splits = splits_near(way.rough, problem_.npu, reach);
    const auto is_no_use = [&](const SpmSplit &split) { return !is_apart(split) || !rows.fit(split); };
    splits.erase(std::remove_if(splits.begin(), splits.end(), is_no_use), splits.end());
  }
  return splits;
}

/// Calls `judge` with the plan and its program for these regions and load windows.
template <typename Judge>
void Baseline::play(const Way &way, int reach, const std::vector<std::uint32_t> &windows, const Judge &judge) const {
  const std::vector<SpmSplit> splits = regions(way, reach);
  if (splits.empty()) return;
  std::vector<PhasePlan> plans = before_;
  PhasePlan &plan = plans.emplace_back(way.plan);
  plan.products = plan_products(plan, layer_, problem_.npu);
  const TileWalk walk(plans, problem_.layers, problem_.layout, problem_.npu);
  TrafficLimit limit;
  limit.bytes = choice_.most_bytes(plan_cycles(plan, layer_, problem_.npu));
  for (const std::uint32_t window : windows)
    for (const SpmSplit &split : splits) {
      plan.split = split;
      plan.window = window;
      if (const auto program = allocate(plans, walk, limit)) judge(plan, *program);
    }
}

/// From so many cycles on, with so many bytes moved, a way is not among the best by any metric.
std::uint64_t Baseline::limit(double bytes) const {
  std::uint64_t most = 0;
  for (std::size_t m = 0; m < kMetrics.size(); ++m) {
    if (best_[m].size() < kRefined) return kTooSlow;
    const double weight = best_[m].back().weight[m];
    if (kMetrics[m] == Metric::kLatency) most = std::max(most, static_cast<std::uint64_t>(weight));
    // Two more than the whole part: the quotient is rounded.
    if (kMetrics[m] == Metric::kLatencyTimesData) most = std::max(most, static_cast<std::uint64_t>(weight / bytes) + 2);
  }
  return most;
}

void Baseline::keep(const Way &way) {
  for (std::size_t m = 0; m < kMetrics.size(); ++m) {
    const auto at = std::upper_bound(best_[m].begin(), best_[m].end(), way.weight[m],
                                     [m](double weight, const Way &other) { return weight < other.weight[m]; });
    best_[m].insert(at, way);
    if (best_[m].size() > kRefined) best_[m].pop_back();
  }
}

void Baseline::estimate(Way way) {
  constexpr double kNothing = std::numeric_limits<double>::infinity();
  way.weight.fill(kNothing);
  const std::uint32_t step = problem_.npu.cores; // operations: the next one's operands come while they execute
  play(way, 0, {step}, [&](const PhasePlan &, const Program &program) {
    const auto bytes = static_cast<double>(moved_bytes(program, problem_.npu));
    const auto cycles = static_cast<double>(estimate_cycles(program, problem_.npu, limit(bytes)));
    for (std::size_t m = 0; m < kMetrics.size(); ++m)
      way.weight[m] = std::min(way.weight[m], flexer::weight_of(kMetrics[m], cycles, bytes));
  });
  if (way.weight.front() == kNothing) return;
  ++estimated_;
  keep(way);
}

Baseline::Way Baseline::way_of(const Tiling &tiling, const LoopOrder &loops, Dim dim) const {
  Way way;
  way.plan.kind = kind_;
  way.plan.tile = tiling.tile;
  way.plan.loops = loops;
  way.plan.parts.dim = dim;
  way.plan.parts.cores = std::min(problem_.npu.cores, cuttable(dim, form_of(kind_).forward(), layer_));
  way.plan.parts.count = way.plan.parts.cores;
  way.plan.parts.sharing = Sharing::kTurns;
  way.rough = rough_estimate_together(kind_, loops, tiling.tile, layer_, problem_.npu, dim, way.plan.parts.cores);
  return way;
}

void Baseline::add_orders(const Tiling &tiling, std::vector<Way> &ways) const {
  std::set<std::pair<LoopOrder, Dim>> known;
  for (const LoopOrder &loops : form_of(kind_).loops)
    for (const Dim dim : unrolled(loops, kind_, tiling.tile, layer_))
      if (known.emplace(loops_that_turn(loops, tiling.tile, layer_), dim).second)
        ways.push_back(way_of(tiling, loops, dim));
}

/// Those of the best estimates, by each metric.
std::vector<std::vector<PhasePlan>> Baseline::best_ways() {
  std::vector<Way> ways;
  for (const Tiling &tiling : flexer::tilings_of(kind_, layer_, problem_.npu, ~std::size_t{0}))
    add_orders(tiling, ways);
  std::vector<std::pair<double, std::size_t>> by_cycles; // of equal ones the first
  for (std::size_t i = 0; i < ways.size(); ++i)
    by_cycles.emplace_back(ways[i].rough.cycles, i);
  std::sort(by_cycles.begin(), by_cycles.end());
  const std::size_t most = ways_for(problem_.options);
  for (const auto &[cycles, index] : by_cycles) {
    if (estimated_ == most) break;
    if (problem_.options.progress) problem_.options.progress(estimated_, most);
    estimate(ways[index]);
  }
  std::vector<std::vector<PhasePlan>> plans;
  for (const std::vector<Way> &best : best_) {
    plans.emplace_back();
    for (const Way &way : best)
      plans.back().push_back(way.plan);
  }
  return plans;
}

/// Those that others asked for, where the phase is by itself; else phases before it are the best by one metric.
std::vector<std::vector<PhasePlan>> Baseline::ways_of_any_metric() {
  if (!before_.empty()) return best_ways();
  CompileOptions any_metric = problem_.options;
  any_metric.flexer_policy = {};
  const SchedulingProblem problem{problem_.layers, problem_.layout, problem_.npu, any_metric, problem_.known};
  const std::string key = fmt::format("{} {}", schedule_key(problem, Schedule("loop_order")), form_of(kind_).name);
  return *problem_.known.loop_orders.get(key, [&] { return best_ways(); });
}

PhasePlan Baseline::run() {
  const auto ways = ways_of_any_metric();
  const auto metric = std::find(kMetrics.begin(), kMetrics.end(), problem_.options.flexer_policy.metric);
  for (const PhasePlan &best : ways.at(static_cast<std::size_t>(metric - kMetrics.begin())))
    play(way_of({best.tile, best.loops, 0}, best.loops, best.parts.dim), 2,
         {1U, problem_.npu.cores, 2 * problem_.npu.cores},
         [&](const PhasePlan &plan, const Program &program) { choice_.consider(plan, program); });
  if (!choice_.best())
    throw CompileError(fmt::format("layer '{}': no tiling leaves a region each for input, weights and sums in the "
                                   "scratchpad of NPU '{}'; give it more spm_bytes or spm_banks, or choose another "
                                   "schedule",
                                   layer_.name, problem_.npu.name));
  return *choice_.best();
}

/// Each phase by itself; or, where they do not fit one after the other, as what several load may have the guard rows of
/// all, each behind those before it.
std::vector<PhasePlan> best_phases(const SchedulingProblem &problem) {
  const Layer &layer = problem.layers.front();
  const std::vector<PhaseKind> kinds = phases(Schedule::kSequential, problem.options.pass, layer);
  std::vector<PhasePlan> plans;
  for (const PhaseKind kind : kinds) {
    plans.push_back(Baseline(kind, problem).run());
    plans.back().products = plan_products(plans.back(), layer, problem.npu);
  }
  if (plans.size() == 1 || allocate(plans, problem.layers, problem.layout, problem.npu)) return plans;
  plans.clear();
  for (const PhaseKind kind : kinds) {
    plans.push_back(Baseline(kind, problem, plans).run());
    plans.back().products = plan_products(plans.back(), layer, problem.npu);
  }
  return plans;
}

Scheduled LoopOrderScheduler::schedule_layer(const SchedulingProblem &problem) const {
  const Layer &layer = problem.layers.front();
  if (problem.options.partition != Partition::kNone)
    throw CompileError(fmt::format("layer '{}': schedule 'loop_order' takes tiles on all cores by turns and cuts no "
                                   "layer; leave the partition out",
                                   layer.name));
  Scheduled scheduled = schedule_once(problem, name(), [&] {
    Scheduled made;
    made.plans = best_phases(problem);
    for (PhasePlan &plan : made.plans)
      plan.products.clear(); // a schedule may be kept
    return made;
  });
  scheduled.chosen = name();
  return scheduled;
}

} // namespace

const Scheduler &loop_order_scheduler() {
  static const LoopOrderScheduler scheduler;
  return scheduler;
}

} // namespace gradweave::compiler
