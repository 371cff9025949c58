// Gradients of weights that are used several times, added up by steps of their own.
#pragma once

#include "memory_model/iteration/iteration.hpp"

namespace gradweave::memory_model {

/// The iteration with a step behind each way back that adds to the gradient of a weight: the way back writes its part
/// as a tensor of its own, and the new step adds that to the sum so far. It runs when the gradient of what the layer
/// read is complete, so behind all layers that read it side by side, such as the gates of a cell. The first part is
/// the sum's beginning.
Iteration sum_apart(const Iteration &iteration);

} // namespace gradweave::memory_model
