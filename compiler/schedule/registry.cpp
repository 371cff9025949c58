#include "compiler/schedule/registry.hpp"
#include "compiler/cost/image_choice.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::compiler {

#define GW_SCHEDULER(name) const Scheduler &name##_scheduler();
#include "compiler/schedule/schedulers.def"
#undef GW_SCHEDULER

const std::vector<const Scheduler *> &schedulers() {
  static const std::vector<const Scheduler *> all{
#define GW_SCHEDULER(name) &name##_scheduler(),
#include "compiler/schedule/schedulers.def"
#undef GW_SCHEDULER
  };
  return all;
}

std::string schedule_names() {
  std::string names;
  for (const Scheduler *scheduler : schedulers())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(scheduler->name()));
  return names;
}

void require_explains(Schedule schedule) {
  std::string names;
  for (const Scheduler *scheduler : schedulers())
    if (scheduler->explains()) names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(scheduler->name()));
  if (!scheduler_of(schedule).explains())
    throw std::invalid_argument(
        fmt::format("schedule '{}' does not explain itself; use one of: {}", to_string(schedule), names));
}

std::vector<Layer> compiled_as(const Layer &layer, Schedule schedule, const Machine &npu) {
  if (scheduler_of(schedule).plans_together()) return split_products(layer, npu);
  return {layer};
}

Schedule parse_schedule(std::string_view name) {
  for (const Scheduler *scheduler : schedulers())
    if (scheduler->name().name() == name) return scheduler->name();
  throw std::invalid_argument(fmt::format("unknown schedule '{}'; use one of: {}", name, schedule_names()));
}

const Scheduler &scheduler_of(Schedule schedule) {
  for (const Scheduler *scheduler : schedulers())
    if (scheduler->name() == schedule) return *scheduler;
  throw std::invalid_argument(
      fmt::format("unknown schedule '{}'; use one of: {}", to_string(schedule), schedule_names()));
}

} // namespace gradweave::compiler
