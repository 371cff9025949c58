// Which products of a step's graph run together in one command stream.
#pragma once

#include "compiler/request/names.hpp"
#include "graph/ir/operator.hpp"
#include "graph/network.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gradweave::runtime::train {

/// A tensor of the graph as an operand or the result of a layer's product: what it is in the layer, and how its
/// elements lie in the graph.
struct PlacedTensor {
  graph::TensorId id = graph::kNone;
  compiler::Tensor as{}; ///< in the layer
  /// Of a layer of groups: each has a matrix of its own, one behind the other; else they lie as the layer has them.
  bool batch = false;
  bool transposed = false; ///< each matrix
  std::optional<Convolution> image =
      std::nullopt; ///< the matrix is made from this image (N15), or folded into it (N17)
};

/// A pass of one layer: one product, or the two that share dY.
struct ProductPass {
  std::vector<graph::OpId> ops; ///< ascending; all their operands are there before the last one
  compiler::Layer layer;
  compiler::Pass pass = compiler::Pass::kForward;
  std::vector<PlacedTensor> inputs, results;

  graph::OpId when() const { return ops.back(); } ///< in the order of the graph
};

/// A product that no stream computes, and why.
struct HostProduct {
  graph::OpId op = graph::kNone;
  std::string reason;
};

struct ProductPlan {
  std::vector<ProductPass> passes; ///< ascending by when()
  std::vector<HostProduct> host;

  /// Of each of so many ops: 1 + index of its pass; 0: the host's.
  std::vector<std::size_t> pass_of_ops(std::size_t ops) const;
};

/// All products of the graph. A gradient of an input and one of weights become one backward pass if they share dY and
/// belong to one product; one of an input alone is the product dY W^T. A gradient of weights that continues a sum is
/// the host's: streams begin sums with +0.
ProductPlan plan_products(const graph::Graph &graph);

} // namespace gradweave::runtime::train
