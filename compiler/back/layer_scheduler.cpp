#include "compiler/back/layer_scheduler.hpp"

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
  if (problem.layers.size() == 1) return schedule_layer(problem);
  const std::vector<Direction> all = directions(problem.layers, problem.options.pass);
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
    // Both gradients of a layer run as they were found, without what Y left in their way.
    if (i > 0 && are_split(problem.layers) && problem.layers.back().dx) scheduled.plans[first].starts_empty = true;
    scheduled.tuning += own.tuning;
  }
  return scheduled;
}

} // namespace gradweave::compiler
