// Ways back of layers that read and write otherwise than this project's operators.
#pragma once

#include "graph/ir/operator.hpp"

namespace gradweave::memory_model {

/// Operators whose gradients are replaced by ops that touch the same tensors as those of the memory model would.
class WaysBack {
public:
  /// `as_layers`: IterationOptions::separate_layers. Clip in any case: where its mask is, its result says as well as
  /// what it reads, and the result is read by others on the way back, too.
  WaysBack(const graph::OperatorSet &operators, bool as_layers);

  /// Lets ops of the graph be derived so. This object has to outlive the graph's gradient pass.
  void apply(graph::Graph &graph) const;

private:
  std::vector<graph::Operator> replaced_;
};

} // namespace gradweave::memory_model
