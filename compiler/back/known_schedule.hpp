// Schedules that are made once for all layers of a shape.
#pragma once

#include "compiler/ir/scheduler.hpp"

#include <functional>
#include <string>

namespace gradweave::compiler {

/// Tells apart the schedules of single layers by a scheduler.
std::string schedule_key(const SchedulingProblem &problem, Schedule scheduler);

/// What `make` makes of a problem of one layer, if nobody has asked for it; else what it has made. A schedule that is
/// to be explained is made each time. What it holds is of the problem's own layer, whatever the first one is called.
Scheduled schedule_once(const SchedulingProblem &problem, Schedule scheduler, const std::function<Scheduled()> &make);

} // namespace gradweave::compiler
