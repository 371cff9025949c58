// Pairwise interactions of features, as recommendation networks (DLRM) have them, as operators of a graph.
#pragma once

#include "graph/build/builder.hpp"

#include <string>

namespace gradweave::graph {

/// x [batch, features, d]: the dot products of each feature with each one before it, [batch, features (features - 1) /
/// 2], in the order (1, 0), (2, 0), (2, 1), (3, 0), ... Throws GraphError unless x has three dimensions and two
/// features.
TensorId add_interactions(Builder &build, TensorId x, const std::string &name);

} // namespace gradweave::graph
