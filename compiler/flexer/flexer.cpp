#include "compiler/flexer/flexer.hpp"

#include "compiler/cost/cost.hpp"
#include "compiler/flexer/list_schedule.hpp"
#include "compiler/flexer/tilings.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace gradweave::compiler::flexer {
namespace {

/// Tilings of a phase that are scheduled.
constexpr std::size_t kTilings = 60;

void check(const SchedulingProblem &problem) {
  if (problem.layers.size() != 1)
    throw CompileError(fmt::format("schedule 'flexer' plans one layer at a time, not {} together; choose another "
                                   "schedule",
                                   problem.layers.size()));
  if (problem.options.partition != Partition::kNone)
    throw CompileError(
        fmt::format("layer '{}': schedule 'flexer' gives operations to all cores and cuts no layer; leave "
                    "the partition out",
                    problem.layers.front().name));
}

PhasePlan plan_of(PhaseKind kind, const Tiling &tiling, const Layer &layer, const Machine &npu) {
  PhasePlan plan;
  plan.kind = kind;
  plan.tile = tiling.tile;
  plan.loops = tiling.loops;
  const RowRange all{0, npu.spm_rows()};
  plan.split = {all, all, all};
  plan.products = make_order(kind, plan.loops, plan.tile, layer, whole(layer));
  return plan;
}

std::optional<Program> scheduled(const std::vector<PhasePlan> &plans, const SchedulingProblem &problem,
                                 const Policy &policy) {
  const TileWalk walk(plans, problem.layers, problem.layout, problem.npu);
  return list_schedule(plans, walk, policy, problem.npu.cores);
}

/// What the metric makes of a schedule: less is better.
double weight_of(Metric metric, double cycles, double bytes) {
  switch (metric) {
  case Metric::kLatency:
    return cycles;
  case Metric::kData:
    return bytes;
  case Metric::kLatencyTimesData:
    break;
  }
  return cycles * bytes;
}

/// Algorithm 1 for a phase by itself.
class PhaseChoice {
public:
  PhaseChoice(const SchedulingProblem &problem, const Policy &policy) : problem_(problem), policy_(policy) {}

  void consider(PhasePlan plan) {
    const std::optional<Program> program = scheduled({plan}, problem_, policy_);
    if (!program) return;
    const auto bytes = static_cast<double>(moved_bytes(*program, problem_.npu));
    const std::uint64_t cycles = program_cycles(*program, problem_.npu, most_cycles(bytes));
    if (cycles == kTooSlow) return;
    const double weight = weight_of(policy_.metric, static_cast<double>(cycles), bytes);
    if (best_ && weight >= best_weight_) return;
    best_weight_ = weight;
    plan.products.clear(); // made again for the best
    best_ = std::move(plan);
  }
  const std::optional<PhasePlan> &best() const { return best_; }

private:
  /// From so many cycles on the schedule is not better than the best.
  std::uint64_t most_cycles(double bytes) const {
    if (!best_ || policy_.metric == Metric::kData) return kTooSlow;
    const double most = policy_.metric == Metric::kLatency ? best_weight_ : best_weight_ / bytes;
    return static_cast<std::uint64_t>(most) + 1;
  }

  const SchedulingProblem &problem_;
  const Policy &policy_;
  std::optional<PhasePlan> best_;
  double best_weight_ = std::numeric_limits<double>::infinity();
};

std::vector<PhaseKind> phases_of(const SchedulingProblem &problem) {
  const Layer &layer = problem.layers.front();
  return phases(resolve(Schedule::kInterleave, layer), problem.options.pass, layer);
}

} // namespace

Scheduled FlexerScheduler::schedule(const SchedulingProblem &problem) const {
  check(problem);
  const Layer &layer = problem.layers.front();
  const std::vector<PhaseKind> kinds = phases_of(problem);
  std::vector<PhasePlan> plans;
  std::string tilings;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    PhaseChoice choice(problem, policy_);
    TilingCount count;
    const std::vector<Tiling> all = tilings_of(kinds[i], layer, problem.npu, kTilings, &count);
    for (std::size_t t = 0; t < all.size(); ++t) {
      if (problem.options.progress) problem.options.progress(i * all.size() + t, kinds.size() * all.size());
      choice.consider(plan_of(kinds[i], all[t], layer, problem.npu));
    }
    if (!choice.best()) refuse_scratchpad(layer, problem.npu);
    const PhasePlan &best = *choice.best();
    plans.push_back(plan_of(kinds[i], {best.tile, best.loops, 0}, layer, problem.npu));
    tilings += fmt::format("{}{} m{} k{} n{} of {} tilings", tilings.empty() ? "" : ", ", form_of(kinds[i]).name,
                           best.tile.m, best.tile.k, best.tile.n, count.fitting);
    if (count.too_large > 0)
      tilings += fmt::format(" ({} left out, of more than {} operations)", count.too_large, kMostOperations);
  }
  std::optional<Program> program = scheduled(plans, problem, policy_);
  if (!program) throw CompilerDefect("phases that fit one by one do not fit one after the other; please report it");
  check_room({layer}, program->room(), problem.npu);
  Scheduled result;
  result.cycles = program_cycles(*program, problem.npu);
  result.program = std::move(program);
  for (PhasePlan &plan : plans)
    plan.products.clear(); // the program has them
  result.plans = std::move(plans);
  result.chosen = name();
  result.tilings = {std::move(tilings)};
  return result;
}

} // namespace gradweave::compiler::flexer

namespace gradweave::compiler {

const Scheduler &flexer_scheduler() {
  static const flexer::FlexerScheduler scheduler;
  return scheduler;
}

} // namespace gradweave::compiler
