#include "compiler/back/known_schedule.hpp"

#include "graph/layer_fingerprint.hpp"

namespace gradweave::compiler {

std::string schedule_key(const SchedulingProblem &problem, Schedule scheduler) {
  CompileOptions options = problem.options;
  options.schedule = scheduler;
  options.stream = true; // no schedule depends on it
  Fingerprint key;
  key.add(shape_fingerprint(problem.layers.front()), fingerprint(options), gradweave::fingerprint(problem.npu));
  if (options.objective != Objective::kCycles)
    key.add(gradweave::fingerprint(problem.npu.energy), problem.npu.clock_ghz);
  return key.hex();
}

Scheduled schedule_once(const SchedulingProblem &problem, Schedule scheduler, const std::function<Scheduled()> &make) {
  if (problem.options.explain) return make();
  Scheduled scheduled = *problem.known.scheduled.get(schedule_key(problem, scheduler), make);
  if (scheduled.program) scheduled.program->layers = problem.layers;
  return scheduled;
}

} // namespace gradweave::compiler
