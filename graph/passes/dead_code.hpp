// What nothing depends on.
#pragma once

#include "graph/ir/graph.hpp"

namespace gradweave::graph {

/// What becomes of parameters, state and inputs that nothing reads.
enum class Unread : std::uint8_t {
  kStay, ///< they are the network's interface
  kGo,   ///< they belong to a part of the network that is left out
};

/// Drops ops that neither a result, the loss, nor an update depends on, and tensors that then are neither read nor
/// computed; of ops that stay, outputs that nobody reads and that may be left out. Ids change, order and names do not.
/// `also`: tensors to be kept, whose new ids take their place.
void drop_dead_code(Graph &graph, std::vector<TensorId> *also = nullptr, Unread unread = Unread::kStay);

} // namespace gradweave::graph
