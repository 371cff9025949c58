// Updates of parameters by their gradients.
#pragma once

#include "graph/passes/gradient.hpp"
#include "graph/passes/training_options.hpp"

namespace gradweave::graph {

/// Appends, for each gradient, the op that makes its parameter's next value, with state that a fresh network fills with
/// zeros: "P.mean" and "P.square" of AdamW, "P.momentum" of SGD. Returns the input of the step's constants.
TensorId add_updates(Graph &graph, const OperatorSet &operators, const std::vector<ParameterGradient> &gradients,
                     const TrainingOptions &options);

} // namespace gradweave::graph
