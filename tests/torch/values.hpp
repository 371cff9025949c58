// Values for a step of a network that no data has: at random, of a size at which nothing saturates.
#pragma once

#include "graph/golden/execution.hpp"
#include "graph/ir/graph.hpp"

#include <cstdint>

namespace gradweave::graph {

/// Sets all inputs, parameters and state. Indices stay below what their readers choose from.
template <class A> void set_values(Execution<A> &run, const Graph &graph, std::uint64_t seed);

extern template void set_values(Execution<Contract> &, const Graph &, std::uint64_t);
extern template void set_values(Execution<Reference> &, const Graph &, std::uint64_t);

} // namespace gradweave::graph
