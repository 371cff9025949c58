#include "compiler/paper/paper.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/paper/loops.hpp"
#include "compiler/request/error.hpp"
#include "compiler/request/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace gradweave::compiler::paper {
namespace {

/// How a layer is planned.
struct PaperOptions {
  Policy policy;
  Schedule schedule;
  Pass pass = Pass::kBackward;
  Cut cut; ///< of the backward pass, and with several cores of the forward pass
  Idealisation ideal;
};

void check(const SchedulingProblem &problem, const PaperOptions &options) {
  if (problem.layers.front().image)
    throw CompileError(fmt::format("layer '{}': the paper's own scheme knows im2col only; read no images, or choose "
                                   "another schedule",
                                   problem.layers.front().name));
  if (problem.layers.size() != 1)
    throw CompileError(fmt::format("the paper's scheme plans one layer at a time, not {} together; choose another "
                                   "schedule",
                                   problem.layers.size()));
  if (!options.ideal.none() && problem.options.stream)
    throw std::invalid_argument("an idealisation has no stream; set CompileOptions::stream to false");
  if (options.ideal.dy_once && options.schedule != Schedule::kSequential)
    throw std::invalid_argument("dy_once goes with the schedule sequential: the others share dY");
}

/// What is planned of a layer, and the phases that it consists of.
struct Planned {
  TimedPlan plan;
  Schedule chosen = Schedule::kSequential;
};

class LayerPlanner {
public:
  LayerPlanner(const Layer &layer, const Machine &npu, const PaperOptions &options, const Layout &layout)
      : layer_(layer), npu_(npu), options_(options), layout_(layout) {}

  Planned run(Schedule schedule);

private:
  void forward();
  void backward(Schedule schedule);
  void plan(Stage &stage, const std::vector<PhaseKind> &kinds, const PhaseParts &parts);

  const Layer &layer_;
  const Machine &npu_;
  const PaperOptions &options_;
  const Layout &layout_;
  Planned planned_;
};

/// The stage's phases: tile sides, then products.
void LayerPlanner::plan(Stage &stage, const std::vector<PhaseKind> &kinds, const PhaseParts &parts) {
  stage.step.cores = parts.cores;
  stage.step.adds = parts.reduction == Reduction::kAdd && parts.count > 1;
  stage.ideal = options_.ideal;
  stage.tile = tile_shape(part_of(layer_, parts, npu_), stage.step, options_.policy, npu_);
  Program &program = planned_.plan.program;
  for (const PhaseKind kind : kinds) {
    PhasePlan phase;
    phase.kind = kind;
    phase.parts = parts;
    phase.tile = stage.tile;
    phase.loops = loops_of(kind, options_.policy);
    const std::vector<TileProduct> products = plan_products(phase, layer_, npu_);
    stage.products.insert(stage.products.end(), products.begin(), products.end());
    add_reductions(phase, layer_, npu_, program.reductions.front());
    planned_.plan.plans.push_back(phase);
  }
  plan_stage(stage, layout_, options_.policy, npu_, program);
}

void LayerPlanner::forward() {
  Stage stage;
  stage.step.y = true;
  const bool beside = npu_.cores > 1; // over time, cutting a single product is of no use
  plan(stage, {forward_phase()}, beside ? phase_parts(options_.cut, true, layer_, npu_) : PhaseParts{});
}

void LayerPlanner::backward(Schedule schedule) {
  const PhaseParts parts = phase_parts(options_.cut, false, layer_, npu_);
  planned_.chosen = resolve(schedule, part_of(layer_, parts, npu_));
  Stage stage;
  stage.step.dw = true;
  stage.step.dx = layer_.dx;
  stage.step.fused = layer_.dx && schedule != Schedule::kSequential;
  plan(stage, phases(planned_.chosen, Pass::kBackward, layer_), parts);
}

Planned LayerPlanner::run(Schedule schedule) {
  planned_ = {};
  planned_.plan.program.layers = {layer_};
  planned_.plan.program.reductions.resize(1);
  planned_.plan.program.dram_bytes = layout_.bytes;
  planned_.chosen = resolve(schedule, layer_);
  if (options_.pass != Pass::kBackward) forward();
  if (options_.pass != Pass::kForward) backward(schedule);
  check_room({layer_}, planned_.plan.program.room(), npu_);
  planned_.plan.cycles = program_cycles(planned_.plan.program, npu_);
  return std::move(planned_);
}

std::vector<Schedule> schedules_to_try(const PaperOptions &options, const Layer &layer) {
  if (options.schedule != Schedule::kIdeal) return {options.schedule};
  if (!computes_dx(layer, options.pass)) return {Schedule::kRearrange}; // all are the same
  return {Schedule::kInterleave, Schedule::kDxMajor, Schedule::kDwMajor};
}

} // namespace

Scheduled PaperScheduler::schedule(const SchedulingProblem &problem) const {
  const CompileOptions &asked = problem.options;
  PaperOptions options;
  options.policy = policy_;
  options.schedule = asked.schedule == name() ? Schedule::kRearrange : asked.schedule;
  options.pass = asked.pass;
  options.cut = {asked.partition, asked.parts, asked.reduction};
  if (asked.parts == 0) options.cut.parts = problem.npu.cores > 1 ? problem.npu.cores : 2;
  options.ideal = ideal_;
  check(problem, options);
  const Layer &layer = problem.layers.front();
  LayerPlanner planner(layer, problem.npu, options, problem.layout);
  std::optional<Planned> best;
  for (const Schedule schedule : schedules_to_try(options, layer)) {
    Planned planned = planner.run(schedule);
    if (!best || planned.plan.cycles < best->plan.cycles) best = std::move(planned);
  }
  const TileShape &tile = best->plan.plans.back().tile;
  std::string tiling = fmt::format("{} m{} k{} n{}", to_string(options.policy), tile.m, tile.k, tile.n);
  if (options.cut.parts > 1 && options.cut.partition != Partition::kNone)
    tiling += fmt::format(" {} x{} {}", to_string(options.cut.partition), options.cut.parts,
                          to_string(options.cut.reduction));
  Scheduled scheduled;
  scheduled.plans = std::move(best->plan.plans);
  scheduled.program = std::move(best->plan.program);
  scheduled.cycles = best->plan.cycles;
  scheduled.chosen = best->chosen;
  scheduled.tilings = {std::move(tiling)};
  return scheduled;
}

} // namespace gradweave::compiler::paper

namespace gradweave::compiler {

const Scheduler &igo_paper_scheduler() {
  static const paper::PaperScheduler scheduler;
  return scheduler;
}

} // namespace gradweave::compiler
