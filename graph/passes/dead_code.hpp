// What nothing depends on.
#pragma once

#include "graph/ir/graph.hpp"

namespace gradweave::graph {

/// Drops ops that neither a result, the loss, nor an update depends on, and tensors that then are neither read nor
/// computed; of ops that stay, outputs that nobody reads and that may be left out. Ids change, order and names do not.
/// `also`: tensors to be kept, whose new ids take their place.
void drop_dead_code(Graph &graph, std::vector<TensorId> *also = nullptr);

} // namespace gradweave::graph
