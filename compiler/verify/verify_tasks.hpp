// The check of an order of tile tasks.
#pragma once

#include "compiler/ir/task.hpp"

#include <string>

namespace gradweave::compiler {

/// Empty if the order has every task once, and each behind all steps of its own chain before it and behind whatever
/// writes what it reads; else what is wrong. Works from boxes and needs, not from TaskGraph::for_predecessors().
std::string verify_task_order(const TaskGraph &tasks, const std::vector<TaskId> &order);

} // namespace gradweave::compiler
