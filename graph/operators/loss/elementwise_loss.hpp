// What losses share that are a mean over all elements of a tensor and a target of its shape.
#pragma once

#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/total.hpp"

namespace gradweave::graph {

/// 1 / elements of an input.
template <class A> typename A::Value share_of_elements(const Kernel<A> &k, std::size_t input) {
  return number<A>(1.0 / static_cast<double>(k.in_shape(input).elements()));
}

inline void require_target(const Inference &op, std::size_t x) {
  op.require(op.shape(x) == op.shape(x + 1),
             "x is " + op.shape(x).text() + " and target " + op.shape(x + 1).text() + "; they must be equal");
}

inline void infer_elementwise_loss(Inference &op) {
  require_target(op, 0);
  op.set(0, {});
}

inline void infer_elementwise_loss_gradient(Inference &op) {
  op.require(op.shape(0).elements() == 1, "dloss is " + op.shape(0).text() + "; it must be one number");
  require_target(op, 1);
  op.set(0, op.shape(1));
}

} // namespace gradweave::graph
