// Evaluates units with the compiler and its exact timing model.
#pragma once

#include "app/evaluation/unit/unit.hpp"

namespace gradweave::evaluation {

/// The layer's stream in the unit's variant. Throws compiler::CompileError; std::invalid_argument if the policy is
/// unknown or the variant is not executable.
compiler::Compiled compile(const Unit &unit);

/// Groups that evaluate() times of a layer of many (a depthwise convolution): enough to fill the scratchpad twice, and
/// a multiple of the parts. All groups do the same, so the others are taken to cost as much each.
std::uint32_t timed_groups(const Unit &unit);

/// What the unit costs, of timed_groups() scaled to all. A unit that cannot be compiled, also because of a defect of
/// the compiler, gives a result with `problem`.
UnitResult evaluate(const Unit &unit);
/// The same with what evaluations before it found, and with what it finds kept for those after it.
UnitResult evaluate(const Unit &unit, compiler::CompileCache &cache);

/// Products of tiles of the array's size that evaluate() times: what its own time follows.
double array_products(const Unit &unit);

/// Seconds of CPU time that evaluate() takes, very roughly.
double estimated_seconds(const Unit &unit);

} // namespace gradweave::evaluation
