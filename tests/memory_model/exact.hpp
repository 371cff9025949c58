// The least traffic of all placements, by linear and integer programs (GLPK).
#pragma once

#include "memory_model/plan.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::test {

enum class Placed { kRows, kWhole };

/// The fewest bytes that a plan can move on that capacity: of tensors by rows, as if bytes could be cut (a linear
/// program, so a bound of what whole bytes can reach by less than a byte a gap), or of whole tensors (an integer
/// program). Knows gaps and working windows, and shares nothing with the planner. Throws std::runtime_error if the
/// solver fails.
double least_traffic(const memory_model::Iteration &iteration, const memory_model::Uses &uses, std::uint64_t capacity,
                     Placed placed);

} // namespace gradweave::test
