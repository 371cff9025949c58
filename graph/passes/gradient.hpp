// The gradient of the loss as a pass: from a forward graph to one that goes back, too.
#pragma once

#include "graph/ir/operator.hpp"

#include <vector>

namespace gradweave::graph {

/// A parameter, and the gradient of the loss with respect to it, of the parameter's shape.
struct ParameterGradient {
  TensorId parameter = kNone, gradient = kNone;
};

/// Appends the ops that compute the gradients of `graph.loss`, a scalar, with respect to all parameters that are not
/// frozen, and, where wanted, to inputs. Where a tensor has several readers, the gradients that they give are added in
/// ascending order of the readers (N22). What is marked to be recomputed is computed again for the ops that go back.
/// `seed`: the gradient of what is asked for with respect to the loss. Parameters that the loss does not depend on are
/// left out. Ascending by parameter. `derived_from`, where wanted: for each op appended the op of the forward graph
/// that it goes back through; kNone: it adds gradients that several readers gave. Throws GraphError if there is no
/// loss, it is no scalar, it depends on no parameter, an op on the way to a parameter has no derivative, or two ops
/// share what each has of its own (AttributeSpec::own).
std::vector<ParameterGradient> add_gradients(Graph &graph, const OperatorSet &operators,
                                             const std::vector<TensorId> &inputs = {}, double seed = 1,
                                             std::vector<OpId> *derived_from = nullptr);

} // namespace gradweave::graph
