// The products of a graph as a list of layers.
#pragma once

#include "graph/ir/graph.hpp"
#include "graph/network.hpp"

#include <filesystem>

namespace gradweave::graph {

/// Every product Y = X W of a Gemm or Conv whose weights are a parameter, in the order of the ops. Heads are left out.
///
/// A layer is called as its weights without ".weight"; one that has them of an earlier layer, as its op. dX is needed
/// where something is learned behind X, as far as a boundary. `input` is the layer of whose Y alone X consists, element
/// by element: bias, activations and batch normalisation count, sums with another tensor, other normalisations, pooling
/// and attention do not. `x_of` is the first layer that reads the same X, if X has no `input`.
///
/// Other parameters are counted by the last part of their names: "bias". Throws ConfigError naming `file`, line and
/// layer for one that no compiler takes, or if there is none.
compiler::Network network_of(const Graph &graph, const std::filesystem::path &file);

} // namespace gradweave::graph
