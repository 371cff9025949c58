// A random network with a loss, over the table of operators.
#pragma once

#include "app/validate/graphs/choices.hpp"
#include "graph/ir/operator.hpp"

#include <string>
#include <vector>

namespace gradweave::graphs {

/// Operators that networks have: all but gradients, which the gradient pass puts in, and what the optimizer's pass
/// does.
const std::vector<const graph::Operator *> &network_operators();

/// A network of up to `most` operators before its losses, whose every tensor is small. It is legal: what inference
/// refuses is drawn again, and its training step can be made.
graph::Graph draw_graph(Choices &choices, std::uint32_t most, const std::string &name);

} // namespace gradweave::graphs
