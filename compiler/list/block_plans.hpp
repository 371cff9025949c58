// Plans whose order takes a block of result tiles at a time: what the search for list schedules begins with beside
// static plans.
#pragma once

#include "compiler/ir/layout.hpp"
#include "compiler/list/list_plan.hpp"
#include "sw_models/config/machine.hpp"

#include <vector>

namespace gradweave::compiler::list {

/// Products of a phase at most: more take too long to list, and each is too short.
inline constexpr std::uint64_t kMostListed = 10'000;

/// Tilings and blocks of a phase with a single result, with areas of the scratchpad, that keep the blocks' order: those
/// of the best estimates, in this order; none if no block fits. `layers`: the one.
std::vector<ListPlan> block_plans(PhaseKind kind, const std::vector<Layer> &layers, const Layout &layout,
                                  const Machine &npu);

} // namespace gradweave::compiler::list
