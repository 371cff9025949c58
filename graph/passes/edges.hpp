// Types of edges: where values are rounded to bf16.
#pragma once

#include "graph/ir/operator.hpp"

namespace gradweave::graph {

/// Gives every tensor whose type is not fixed the type of its edge (N21), from what its producer gives and its readers
/// take, and puts a Cast before operands of products that are not bf16, one for each tensor. The graph is to be
/// complete: gradients and updates in it, since a reader more may make an edge fp32. Tensors keep their ids; ops move.
void assign_edges(Graph &graph, const OperatorSet &operators);

} // namespace gradweave::graph
