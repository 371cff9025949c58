#include "compiler/back/layer_scheduler.hpp"

#include "compiler/back/compile_plan.hpp"
#include "compiler/cost/image_choice.hpp"
#include "compiler/lower/layout.hpp"

#include <cstdint>

namespace gradweave::compiler {
namespace {

/// A layer's pass in one direction.
struct Direction {
  std::uint32_t layer;
  Pass pass;
};

std::vector<Direction> directions(const std::vector<Layer> &layers, Pass pass) {
  std::vector<Direction> all;
  const auto count = static_cast<std::uint32_t>(layers.size());
  for (std::uint32_t i = 0; i < count && pass != Pass::kBackward; ++i)
    if (takes_part(layers[i], Pass::kForward)) all.push_back({i, Pass::kForward});
  for (std::uint32_t i = count; i-- > 0 && pass != Pass::kForward;)
    if (takes_part(layers[i], Pass::kBackward)) all.push_back({i, Pass::kBackward});
  return all;
}

} // namespace

Scheduled LayerScheduler::schedule(const SchedulingProblem &problem) const {
  if (directions(problem.layers, problem.options.pass).size() == 1) return schedule_layer(problem);
  Scheduled scheduled = schedule_apart(problem);
  if (problem.layers.size() > 1) return scheduled;
  try {
    scheduled.cycles = time_plans(scheduled.plans, problem.layers, problem.layout, problem.npu, 0).cycles;
  } catch (const CompileError &) { // a tile of an image that several phases load has the guard rows of all
    scheduled = schedule_layer(problem);
    scheduled.plans.at(1).starts_empty = true;
    scheduled.cycles = 0;
  }
  return scheduled;
}

Scheduled LayerScheduler::schedule_apart(const SchedulingProblem &problem) const {
  const std::vector<Direction> all = directions(problem.layers, problem.options.pass);
  const bool one_layer = problem.layers.size() == 1 || are_split(problem.layers);
  Scheduled scheduled;
  scheduled.chosen = name();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<Layer> layer{problem.layers[all[i].layer]};
    CompileOptions options = problem.options;
    options.pass = all[i].pass;
    if (options.progress)
      options.progress = [&](std::uint64_t done, std::uint64_t of) {
        problem.options.progress(i * of + done, all.size() * of);
      };
    const Layout layout = make_layout(layer, options.pass, problem.npu);
    const Scheduled own = schedule_layer({layer, layout, problem.npu, options, problem.known});
    const std::size_t first = scheduled.plans.size();
    for (PhasePlan plan : own.plans) {
      plan.layer = all[i].layer;
      scheduled.plans.push_back(plan);
    }
    // Between the passes of one layer lie all that follow it in a step.
    if (i > 0 && one_layer) scheduled.plans[first].starts_empty = true;
    if (problem.layers.size() == 1) scheduled.chosen = own.chosen;
    scheduled.tuning += own.tuning;
  }
  return scheduled;
}

} // namespace gradweave::compiler
