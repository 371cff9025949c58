// What a step of training is asked to be.
#pragma once

#include <cstdint>
#include <string_view>

namespace gradweave::graph {

/// How far a step goes.
enum class Extent : std::uint8_t {
  kForward,   ///< to the loss
  kGradients, ///< to the gradients of parameters, which are results
  kUpdates,   ///< to the next values of parameters and of the optimizer's state
};

/// "forward", "gradients" or "updates"; throws std::invalid_argument listing these.
Extent parse_extent(std::string_view name);

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
  /// What convolutions of one tap and a stride read of an image is a tensor of its own (read_samples()).
  bool read_samples = false;
};

} // namespace gradweave::graph
