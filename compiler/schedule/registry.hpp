// All schedulers there are.
#pragma once

#include "compiler/ir/scheduler.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gradweave::compiler {

/// In the order in which help lists them; the first is the conventional one.
const std::vector<const Scheduler *> &schedulers();

/// Throws std::invalid_argument listing the names that there are.
const Scheduler &scheduler_of(Schedule schedule);

/// What a layer of a network is compiled as: split_products() (compiler/cost/image_choice.hpp), if the scheduler plans
/// several layers together, else itself.
std::vector<Layer> compiled_as(const Layer &layer, Schedule schedule, const Machine &npu);

/// Throws std::invalid_argument listing the names that there are.
Schedule parse_schedule(std::string_view name);
/// Throws std::invalid_argument listing those that can if this one does not explain itself.
void require_explains(Schedule schedule);
/// "sequential, interleave, ...": what parse_schedule() accepts.
std::string schedule_names();

} // namespace gradweave::compiler
