// Multi-head attention as operators of a graph.
#pragma once

#include "graph/build/builder.hpp"

#include <string>

namespace gradweave::graph {

struct AttentionInputs {
  TensorId q = kNone; ///< [batch, positions, heads * d]
  TensorId k = kNone; ///< [batch, other positions, heads * d]
  TensorId v = kNone; ///< as k
  /// Added to the scores, which are [batch, heads, positions, other positions] and which it broadcasts to; kNone: none.
  TensorId mask = kNone;
};

/// softmax(q k^T / sqrt(d) + mask) v in each head; [batch, positions, heads * d]. Throws GraphError, as the builder
/// does.
TensorId add_attention(Builder &build, const AttentionInputs &inputs, std::uint32_t heads, const std::string &name);

/// [positions, positions], 0 up to the diagonal and -infinity above: no position sees those behind it.
TensorId add_causal_mask(Builder &build, std::uint32_t positions, const std::string &name);

} // namespace gradweave::graph
