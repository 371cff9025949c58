// The table of operators.
#pragma once

#include "graph/ir/operator.hpp"

namespace gradweave::graph {

/// All operators that there are. The same object in each call.
const OperatorSet &operators();

} // namespace gradweave::graph
