// Evaluates units with the compiler and its exact timing model.
#pragma once

#include "runtime/reproduce/unit.hpp"

namespace gradweave::reproduce {

/// The layer's stream in the unit's variant. Throws compiler::CompileError; std::invalid_argument if the policy is
/// unknown or the variant is not executable.
compiler::CompiledLayer compile(const Unit &unit);

/// What the unit costs. A unit that cannot be compiled, also because of a defect of the compiler, gives a result with
/// `problem`.
UnitResult evaluate(const Unit &unit);

/// Products of tiles of the array's size that the unit's pass takes: what time to evaluate it follows.
double array_products(const Unit &unit);

/// Seconds of CPU time that evaluate() takes, very roughly.
double estimated_seconds(const Unit &unit);

} // namespace gradweave::reproduce
