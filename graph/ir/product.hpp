// Which ops are products.
#pragma once

#include "graph/ir/operator.hpp"

namespace gradweave::graph {

/// Whether an op is a product of matrices or a convolution, which an array computes.
inline bool is_product(const OpView &op) {
  return op.op.type->lower != nullptr && op.op.type->lower(op).product.has_value();
}

} // namespace gradweave::graph
