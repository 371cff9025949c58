// Iterations at random, small enough to try all placements.
#pragma once

#include "memory_model/iteration/iteration.hpp"

#include <random>

namespace gradweave::test {

/// A chain of layers forwards and back: each reads what one of the few before it gave, some have weights; on the way
/// back gradients are added up in place where a result has several readers.
memory_model::Iteration random_iteration(std::mt19937 &random, std::uint32_t layers);

} // namespace gradweave::test
