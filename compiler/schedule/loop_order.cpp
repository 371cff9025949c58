// flexer_cgo23's baseline (section 3, figures 3 and 5): a loop order, its innermost loop unrolled over the cores, and a
// region of the scratchpad each for input, weights and sums.
#include "compiler/back/layer_scheduler.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/cost/splits.hpp"
#include "compiler/cost/tile_estimate.hpp"
#include "compiler/flexer/phase_choice.hpp"
#include "compiler/flexer/tilings.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/spm/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace gradweave::compiler {
namespace {

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

/// Of one phase.
class Baseline {
public:
  Baseline(PhaseKind kind, const SchedulingProblem &problem)
      : kind_(kind), problem_(problem), layer_(problem.layers.front()),
        choice_(problem.options.flexer_policy.metric, problem.npu) {}

  /// Throws CompileError if nothing fits.
  PhasePlan run();

private:
  struct Way {
    PhasePlan plan;
    RoughEstimate rough;
    double weight = 0; ///< by the metric, estimated
  };

  void add_orders(const Tiling &tiling, std::vector<Way> &ways) const;
  std::vector<SpmSplit> regions(const Way &way, int reach) const;
  template <typename Judge>
  void play(const Way &way, int reach, const std::vector<std::uint32_t> &windows, const Judge &judge) const;
  void estimate(Way way);

  PhaseKind kind_;
  const SchedulingProblem &problem_;
  const Layer &layer_;
  PhaseChoice choice_;
  std::size_t estimated_ = 0;
  std::vector<Way> best_; ///< by weight
};

bool is_apart(const SpmSplit &split) {
  return split.shared.end() <= split.other.first && split.other.end() <= split.result.first;
}

/// Regions up to `reach` banks from what the estimate wants that hold a product; if there are none, those further away.
std::vector<SpmSplit> Baseline::regions(const Way &way, int reach) const {
  constexpr int kFar = 6;
  std::vector<SpmSplit> splits;
  for (; splits.empty() && reach <= kFar; reach += 2) {
    splits = splits_near(way.rough, problem_.npu, reach);
    const auto is_no_use = [&](const SpmSplit &split) {
      return !is_apart(split) || !fits(kind_, way.plan.tile, split, layer_, problem_.npu, way.plan.parts);
    };
    splits.erase(std::remove_if(splits.begin(), splits.end(), is_no_use), splits.end());
  }
  return splits;
}

/// Calls `judge` with the plan and its program for these regions and load windows.
template <typename Judge>
void Baseline::play(const Way &way, int reach, const std::vector<std::uint32_t> &windows, const Judge &judge) const {
  const std::vector<SpmSplit> splits = regions(way, reach);
  if (splits.empty()) return;
  std::vector<PhasePlan> plans{way.plan};
  PhasePlan &plan = plans.front();
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

void Baseline::estimate(Way way) {
  way.weight = std::numeric_limits<double>::infinity();
  const std::uint32_t step = problem_.npu.cores; // operations: the next one's operands come while they execute
  play(way, 0, {step}, [&](const PhasePlan &, const Program &program) {
    const auto cycles = static_cast<double>(estimate_cycles(program, problem_.npu, kTooSlow));
    const auto bytes = static_cast<double>(moved_bytes(program, problem_.npu));
    way.weight = std::min(way.weight, flexer::weight_of(problem_.options.flexer_policy.metric, cycles, bytes));
  });
  if (way.weight == std::numeric_limits<double>::infinity()) return;
  ++estimated_;
  const auto at = std::upper_bound(best_.begin(), best_.end(), way.weight,
                                   [](double weight, const Way &other) { return weight < other.weight; });
  best_.insert(at, std::move(way));
  if (best_.size() > kRefined) best_.pop_back();
}

void Baseline::add_orders(const Tiling &tiling, std::vector<Way> &ways) const {
  std::set<std::pair<LoopOrder, Dim>> known;
  for (const LoopOrder &loops : form_of(kind_).loops)
    for (const Dim dim : unrolled(loops, kind_, tiling.tile, layer_)) {
      if (!known.emplace(loops_that_turn(loops, tiling.tile, layer_), dim).second) continue;
      Way way;
      way.plan.kind = kind_;
      way.plan.tile = tiling.tile;
      way.plan.loops = loops;
      way.plan.parts.dim = dim;
      way.plan.parts.cores = std::min(problem_.npu.cores, cuttable(dim, form_of(kind_).forward(), layer_));
      way.plan.parts.count = way.plan.parts.cores;
      way.plan.parts.sharing = Sharing::kTurns;
      way.rough = rough_estimate_together(kind_, loops, tiling.tile, layer_, problem_.npu, dim, way.plan.parts.cores);
      ways.push_back(std::move(way));
    }
}

PhasePlan Baseline::run() {
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
  for (const Way &way : best_)
    play(way, 2, {1U, problem_.npu.cores, 2 * problem_.npu.cores},
         [&](const PhasePlan &plan, const Program &program) { choice_.consider(plan, program); });
  if (!choice_.best())
    throw CompileError(fmt::format("layer '{}': no tiling leaves a region each for input, weights and sums in the "
                                   "scratchpad of NPU '{}'; give it more spm_bytes or spm_banks, or choose another "
                                   "schedule",
                                   layer_.name, problem_.npu.name));
  return *choice_.best();
}

Scheduled LoopOrderScheduler::schedule_layer(const SchedulingProblem &problem) const {
  const Layer &layer = problem.layers.front();
  if (problem.options.partition != Partition::kNone)
    throw CompileError(fmt::format("layer '{}': schedule 'loop_order' takes tiles on all cores by turns and cuts no "
                                   "layer; leave the partition out",
                                   layer.name));
  Scheduled scheduled;
  scheduled.chosen = name();
  for (const PhaseKind kind : phases(Schedule::kSequential, problem.options.pass, layer))
    scheduled.plans.push_back(Baseline(kind, problem).run());
  return scheduled;
}

} // namespace

const Scheduler &loop_order_scheduler() {
  static const LoopOrderScheduler scheduler;
  return scheduler;
}

} // namespace gradweave::compiler
