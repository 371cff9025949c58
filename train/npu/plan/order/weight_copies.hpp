// Copies of parameters that last from step to step beside them, as whoever updates a parameter can store its next copy.
#pragma once

#include "graph/passes/training.hpp"
#include "train/step_executor.hpp"

#include <utility>
#include <vector>

namespace gradweave::runtime::train {

/// A step whose bf16 copies of parameters are state.
struct LastingCopies {
  graph::TrainingGraph step;                                       ///< tensors keep their ids; next copies come behind
  std::vector<std::pair<graph::TensorId, graph::TensorId>> copies; ///< and the parameter of each
};

/// What a Cast gives of a parameter becomes state, and its next value a Cast of the parameter's next value, right
/// behind the update; of a frozen parameter there is none. Each Cast rounds what it rounded before (N21), one step
/// earlier, so no bit changes.
LastingCopies with_lasting_copies(const graph::TrainingGraph &step);

/// To what lives of the step without lasting copies adds those that a step begins with: its parameters, rounded.
void make_copies(const LastingCopies &lasting, Living &living);
/// Leaves what lives of the step without them.
void drop_copies(const LastingCopies &lasting, Living &living);

} // namespace gradweave::runtime::train
