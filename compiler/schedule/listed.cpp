// List scheduling that knows time, beside the searched static orders.
#include "compiler/back/compile_plan.hpp"
#include "compiler/back/known_schedule.hpp"
#include "compiler/back/layer_scheduler.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/list/list_search.hpp"
#include "compiler/lower/describe.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/schedule/registry.hpp"
#include "compiler/schedule/searched.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Times as many changes of list schedules as of static ones.
constexpr std::uint64_t kTimes = 2;

class ListScheduler final : public Scheduler {
public:
  Schedule name() const override { return Schedule("list"); }
  std::string_view summary() const override {
    return "out of order on all cores by what each would wait for, or as search or loop_order, whichever is faster";
  }
  bool plans_together() const override { return false; }
  /// Throws CompileError if there are several layers, a partition, or nothing fits.
  Scheduled schedule(const SchedulingProblem &problem) const override;
};

void check(const SchedulingProblem &problem) {
  if (problem.layers.size() != 1)
    throw CompileError(fmt::format("schedule 'list' plans one layer at a time, not {} together; choose another "
                                   "schedule",
                                   problem.layers.size()));
  if (problem.options.partition != Partition::kNone)
    throw CompileError(fmt::format("layer '{}': schedule 'list' chooses how cores share a layer; leave the partition "
                                   "out",
                                   problem.layers.front().name));
}

/// The progress of the static search, or of what follows, as a part of both.
std::function<void(std::uint64_t, std::uint64_t)> part_of_progress(const CompileOptions &options, std::uint64_t part) {
  if (!options.progress) return nullptr;
  return [&options, part](std::uint64_t done, std::uint64_t of) { options.progress(part * of + done, 2 * of); };
}

/// The plans of the loop orders that are best by `metric`; none if no tiling leaves each operand a region.
std::vector<PhasePlan> loop_order_plans(const SchedulingProblem &problem, flexer::Metric metric) {
  CompileOptions options = problem.options;
  options.schedule = Schedule("loop_order");
  options.flexer_policy.metric = metric;
  options.progress = nullptr;
  try {
    return scheduler_of(options.schedule)
        .schedule({problem.layers, problem.layout, problem.npu, options, problem.known})
        .plans;
  } catch (const CompileError &) {
    return {};
  }
}

/// What the search for list schedules of a phase begins with: the static plan, if it has that phase by itself, and its
/// sums are chains.
std::vector<PhasePlan> plans_of(PhaseKind kind, const std::vector<PhasePlan> &searched) {
  std::vector<PhasePlan> found;
  for (const PhasePlan &p : searched)
    if (const bool adds = p.parts.count > 1 && p.parts.reduction == Reduction::kAdd && !p.parts.by_turns() &&
                          p.parts.dim == contraction_of(form_of(kind).results.front()).red;
        p.kind == kind && !adds)
      found.push_back(p);
  return found;
}

std::string name_of(const list::ListPlan &plan) {
  std::string text = describe({plan.phase});
  if (plan.block)
    text += fmt::format(", blocks of {} x {} tiles, {} first", plan.block->rows, plan.block->cols,
                        plan.block->down ? "down" : "right");
  if (plan.options) text += fmt::format(", out of the first {} products", plan.options->ahead);
  return text;
}

/// The list schedules of all phases, one after the other; nothing if one of them has none.
std::optional<Scheduled> listed(const SchedulingProblem &problem, const Scheduled &searched) {
  const Layer &layer = problem.layers.front();
  const std::vector<PhaseKind> kinds = phases(Schedule::kSequential, problem.options.pass, layer);
  Scheduled result;
  std::string tilings;
  std::uint64_t tried = 0;
  const std::uint64_t all = kinds.size() * kTimes * problem.options.plans;
  const auto progress = part_of_progress(problem.options, 1);
  std::vector<PhasePlan> known = loop_order_plans(problem, flexer::Metric::kLatency);
  known.insert(known.end(), searched.plans.begin(), searched.plans.end());
  for (const PhaseKind kind : kinds) {
    list::ListSearchOptions options;
    options.from = plans_of(kind, known);
    options.plans = kTimes * problem.options.plans + problem.options.tune;
    options.seed = problem.options.search_seed;
    const auto count = [&] {
      if (progress) progress(std::min(++tried, all), all);
    };
    const auto found = list::search_list(kind, layer, problem.layout, problem.npu, options, count);
    if (!found) return std::nullopt;
    result.plans.push_back(found->phase);
    result.plans.back().starts_empty = result.plans.size() == 2 && kinds.front() == forward_phase();
    result.plans.back().products = list::list_products(*found, problem.layers, problem.layout, problem.npu);
    tilings += fmt::format("{}{}", tilings.empty() ? "" : "; ", name_of(*found));
  }
  result.program = allocate(result.plans, problem.layers, problem.layout, problem.npu);
  if (!result.program || result.program->room().bytes() > problem.npu.memory.size_bytes) return std::nullopt;
  result.cycles = program_cycles(*result.program, problem.npu);
  for (PhasePlan &plan : result.plans)
    plan.products.clear(); // the program has them
  result.tilings = {std::move(tilings)};
  return result;
}

Scheduled best_of_both(const SchedulingProblem &problem) {
  CompileOptions options = problem.options;
  options.schedule = Schedule::kSearch;
  options.progress = part_of_progress(problem.options, 0);
  Scheduled searched = FullSearch().schedule({problem.layers, problem.layout, problem.npu, options, problem.known});
  std::optional<Scheduled> best = listed(problem, searched);
  if (!best || best->cycles >= searched.cycles) best = std::move(searched);
  // A metric decides which loop orders are timed, so the fastest may be among those of another one.
  for (const flexer::Metric metric :
       {flexer::Metric::kLatencyTimesData, flexer::Metric::kLatency, flexer::Metric::kData})
    if (std::vector<PhasePlan> plans = loop_order_plans(problem, metric); !plans.empty())
      if (TimedPlan timed = time_plans(std::move(plans), problem.layers, problem.layout, problem.npu, 0);
          timed.cycles < best->cycles) {
        best = Scheduled{};
        best->plans = std::move(timed.plans);
        best->cycles = timed.cycles;
      }
  return std::move(*best);
}

Scheduled ListScheduler::schedule(const SchedulingProblem &problem) const {
  check(problem);
  Scheduled best = schedule_once(problem, name(), [&] { return best_of_both(problem); });
  best.chosen = name();
  return best;
}

} // namespace

const Scheduler &list_scheduler() {
  static const ListScheduler scheduler;
  return scheduler;
}

} // namespace gradweave::compiler
