// From a network that computes a loss to a graph that is a step of its training.
#pragma once

#include "graph/passes/gradient.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradweave::graph {

/// How far a step goes.
enum class Extent : std::uint8_t {
  kForward,   ///< to the loss
  kGradients, ///< to the gradients of parameters, which are results
  kUpdates,   ///< to the next values of parameters and of the optimizer's state
};

enum class OptimizerKind : std::uint8_t { kSgd, kAdamW };
std::string_view to_string(OptimizerKind kind); ///< "sgd", "adamw"
/// Throws std::invalid_argument listing the names that there are.
OptimizerKind parse_optimizer(std::string_view name);

struct TrainingOptions {
  Extent extent = Extent::kUpdates;
  OptimizerKind optimizer = OptimizerKind::kAdamW;
  double weight_decay = 0;
  double momentum = 0;                               ///< of SGD; 0: none, and no state
  bool nesterov = false;                             ///< of SGD
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8; ///< of AdamW
  double clip_norm = 0;                              ///< most that the norm of all gradients may be; 0: any
  std::uint32_t accumulate = 1;                      ///< micro-batches whose gradients make one step
  /// Of a parameter that nothing but one Gather reads, update the rows that it gathered and no others; the moments of
  /// the others stay as well. Else every row decays in every step, as in torch.
  bool sparse_embeddings = false;
};

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
