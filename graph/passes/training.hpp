// From a network that computes a loss to a graph that is a step of its training.
#pragma once

#include "graph/passes/gradient.hpp"
#include "graph/passes/training_options.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gradweave::graph {

/// What one micro-batch of a step reads and gives.
struct MicroBatch {
  /// Inputs of the forward graph, and of the step; in the order of the former.
  std::vector<std::pair<TensorId, TensorId>> inputs;
  TensorId loss = kNone;
};

struct TrainingGraph {
  Graph graph;
  std::vector<MicroBatch> micro_batches;
  /// fp32 input, constants of the step: of SGD the rate; of AdamW the rate, 1 / (1 - beta1^t) and 1 / (1 - beta2^t) for
  /// the step t = 1, 2, ... kNone unless the extent is kUpdates.
  TensorId constants = kNone;
  std::vector<ParameterGradient> gradients; ///< by parameter, ids of `graph`; none of a forward graph
  /// Names of ops that compute gradients, and of the op of the forward graph that each goes back through; not of those
  /// that add gradients of several readers, nor of micro-batches behind the first.
  std::vector<std::pair<std::string, std::string>> goes_back_through;

  /// The tensor of the step that is `forward` of the forward graph: what is computed is that of the first micro-batch.
  /// kNone if nothing in the step needs it.
  TensorId of_forward(const Graph &forward_graph, TensorId forward) const {
    return graph.find(forward_graph.tensors[forward].name);
  }
};

/// The step's graph: gradients, sums over micro-batches, optimizer, types of edges, without what nothing depends on,
/// verified. `forward` has a loss.
///
/// Micro-batches follow one another; each is the whole network with inputs of its own, and gradients of the loss
/// divided by their number. From the second one on a gradient whose op takes an initial value (of a product's
/// weights, a bias, an embedding) begins with the sum of those before (N9: the chain goes on); every other gradient is
/// added to that sum (N13). What a network updates by itself, as running averages, the next micro-batch finds updated.
/// Throws GraphError: as add_gradients(), and for options that do not fit.
TrainingGraph training_graph(const Graph &forward, const OperatorSet &operators, const TrainingOptions &options);

} // namespace gradweave::graph
