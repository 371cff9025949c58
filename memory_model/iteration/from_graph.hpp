// From a network's graph to its training iteration.
#pragma once

#include "graph/ir/operator.hpp"
#include "memory_model/iteration/iteration.hpp"

namespace gradweave::memory_model {

struct IterationOptions {
  std::uint32_t element_bytes = 4; ///< of a real number; 4 in the thesis
  bool forward_only = false;       ///< inference: nothing goes back
  /// Every layer goes back as one of its own, as a framework without fusion has it and the thesis counts: a sum writes
  /// a gradient for each of what it adds, dropout keeps no counter but reads what it read, dimensions that change
  /// places are a layer that moves its tensor, gradients of weights that recur are added up by steps of their own
  /// (sum_apart()). Else as this project's operators.
  bool separate_layers = true;
};

/// The layers of `forward`, which has a loss, forwards in the thesis's order and back in reverse: a step each. A step
/// back is all ops that the gradient pass derives from the layer. Where several readers give gradients of a tensor each
/// adds its own to the sum so far, in place where nobody else reads that. Tensors that only a step itself sees are none
/// of the memory's. Of a table that is only gathered from, the rows that are gathered count, and of its gradient as
/// many. Throws GraphError as add_gradients(): for a network without loss or without gradient.
Iteration iteration_of(const graph::Graph &forward, const graph::OperatorSet &operators,
                       const IterationOptions &options = {});

} // namespace gradweave::memory_model
