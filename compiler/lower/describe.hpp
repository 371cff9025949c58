// Plans for people.
#pragma once

#include "compiler/ir/program.hpp"

#include <string>

namespace gradweave::compiler {

/// Tile sizes and orders: "dX mkn m45 k64 n90 w1; dW ...".
std::string describe(const std::vector<PhasePlan> &plans);

} // namespace gradweave::compiler
