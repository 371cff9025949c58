#include "compiler/flexer/flexer.hpp"

#include "compiler/back/known_schedule.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/flexer/explain.hpp"
#include "compiler/flexer/list_schedule.hpp"
#include "compiler/flexer/phase_choice.hpp"
#include "compiler/flexer/tilings.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace gradweave::compiler::flexer {
namespace {

/// Tilings of a phase that are scheduled: as many as five of the search's plans.
std::size_t tilings_for(const CompileOptions &options) {
  constexpr std::uint64_t kPlansOfATiling = 5;
  return std::max<std::uint64_t>(1, options.plans / kPlansOfATiling);
}

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

std::optional<Program> scheduled(const std::vector<PhasePlan> &plans, const SchedulingProblem &problem,
                                 std::uint64_t most_bytes) {
  const TileWalk walk(plans, problem.layers, problem.layout, problem.npu);
  return list_schedule(plans, walk, problem.options.flexer_policy, problem.npu.cores, most_bytes);
}

/// That of the best tilings, which may be explained.
std::optional<Program> final_schedule(const std::vector<PhasePlan> &plans, const SchedulingProblem &problem) {
  const TileWalk walk(plans, problem.layers, problem.layout, problem.npu);
  std::uint64_t steps = 0;
  ListObserver observer;
  if (problem.options.explain)
    observer = [&](const ListStep &step) { problem.options.explain(explain(++steps, step, walk)); };
  return list_schedule(plans, walk, problem.options.flexer_policy, problem.npu.cores, ~std::uint64_t{0}, observer);
}

/// Algorithm 1 for a phase and one of its tilings, by itself or behind the phases `before` it.
void try_tiling(const PhasePlan &plan, std::vector<PhasePlan> before, const SchedulingProblem &problem,
                PhaseChoice &choice) {
  const std::uint64_t arrays = phase_cycles(plan.kind, plan.tile, problem.layers.front(), problem.npu);
  before.push_back(plan);
  if (const auto program = scheduled(before, problem, choice.most_bytes(arrays / problem.npu.cores)))
    choice.consider(plan, *program);
}

/// Cores without an operation, for people; nothing if there is none.
std::string describe_idle(const Program &program, std::uint32_t cores) {
  std::set<std::uint32_t> used;
  for (const Action &a : program.actions)
    if (a.computes()) used.insert(a.core);
  const std::size_t idle = cores - used.size();
  if (idle == 0) return "";
  return fmt::format(", {} of {} cores idle: there are no more operations at a time", idle, cores);
}

std::vector<PhaseKind> phases_of(const SchedulingProblem &problem) {
  const Layer &layer = problem.layers.front();
  return phases(resolve(Schedule::kInterleave, layer), problem.options.pass, layer);
}

/// The phases of a layer, and what people read of them.
struct Chosen {
  std::vector<PhasePlan> plans;
  std::string tilings;
};

/// The best tiling of each phase by itself; `together`: of each behind those before it.
Chosen choose_tilings(const std::vector<PhaseKind> &kinds, const SchedulingProblem &problem, bool together) {
  const Layer &layer = problem.layers.front();
  Chosen chosen;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    PhaseChoice choice(problem.options.flexer_policy.metric, problem.npu);
    TilingCount count;
    const std::vector<Tiling> all = tilings_of(kinds[i], layer, problem.npu, tilings_for(problem.options), &count);
    for (std::size_t t = 0; t < all.size(); ++t) {
      if (problem.options.progress) problem.options.progress(i * all.size() + t, kinds.size() * all.size());
      try_tiling(plan_of(kinds[i], all[t], layer, problem.npu), together ? chosen.plans : std::vector<PhasePlan>{},
                 problem, choice);
    }
    if (!choice.best()) refuse_scratchpad(layer, problem.npu);
    const PhasePlan &best = *choice.best();
    chosen.plans.push_back(plan_of(kinds[i], {best.tile, best.loops, 0}, layer, problem.npu));
    chosen.tilings += fmt::format("{}{} m{} k{} n{} of {} tilings", chosen.tilings.empty() ? "" : ", ",
                                  form_of(kinds[i]).name, best.tile.m, best.tile.k, best.tile.n, count.fitting);
    if (count.too_large > 0)
      chosen.tilings += fmt::format(" ({} left out, of more than {} operations)", count.too_large, kMostOperations);
  }
  return chosen;
}

Scheduled best_schedule(const SchedulingProblem &problem) {
  const Layer &layer = problem.layers.front();
  const std::vector<PhaseKind> kinds = phases_of(problem);
  Chosen chosen = choose_tilings(kinds, problem, false);
  std::optional<Program> program = final_schedule(chosen.plans, problem);
  if (!program) { // a tile of an image that several phases load has the guard rows of all
    chosen = choose_tilings(kinds, problem, true);
    program = final_schedule(chosen.plans, problem);
  }
  if (!program) throw CompilerDefect("phases that fit one behind the other do not fit so; please report it");
  check_room({layer}, program->room(), problem.npu);
  chosen.tilings += describe_idle(*program, problem.npu.cores);
  Scheduled result;
  result.cycles = program_cycles(*program, problem.npu);
  result.program = std::move(program);
  for (PhasePlan &plan : chosen.plans)
    plan.products.clear(); // the program has them
  result.plans = std::move(chosen.plans);
  result.tilings = {std::move(chosen.tilings)};
  return result;
}

} // namespace

Scheduled FlexerScheduler::schedule(const SchedulingProblem &problem) const {
  check(problem);
  Scheduled result = schedule_once(problem, name(), [&] { return best_schedule(problem); });
  result.chosen = name();
  return result;
}

} // namespace gradweave::compiler::flexer

namespace gradweave::compiler {

const Scheduler &flexer_scheduler() {
  static const flexer::FlexerScheduler scheduler;
  return scheduler;
}

} // namespace gradweave::compiler
