// What has to hold of every estimate, computed apart from the policies.
#pragma once

#include "memory_model/plan.hpp"

#include <string>
#include <vector>

namespace gradweave::test {

/// What is broken of: time is at least that of computing and that of moving; steps add up; each tensor comes in at most
/// once a use and goes out at most once a change; what is in memory at first and read comes in at least once, what has
/// to last goes out. Empty: nothing.
std::vector<std::string> broken(const memory_model::Iteration &iteration, const memory_model::Estimate &estimate,
                                const memory_model::Machine &machine);
/// The same for what a plan is to move: each byte followed on its own, from step to step. A byte is only loaded if
/// memory has it.
std::vector<std::string> broken(const memory_model::Iteration &iteration, const memory_model::Plan &plan,
                                const memory_model::Estimate &estimate, const memory_model::Machine &machine);

} // namespace gradweave::test
