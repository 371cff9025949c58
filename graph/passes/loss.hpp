// A loss for a network that has none, as files of other frameworks have them.
#pragma once

#include "graph/ir/operator.hpp"

#include <string>
#include <string_view>

namespace gradweave::graph {

enum class LossKind : std::uint8_t { kCrossEntropy, kMeanSquare, kBinaryCrossEntropy };

/// "cross_entropy, mse or bce"
std::string loss_names();
/// Throws std::invalid_argument listing the names that there are.
LossKind parse_loss(std::string_view name);

/// Adds a loss on the first result, or the scores if it is the places of the largest (ArgMax), and what it is compared
/// with as an input: "labels", whole numbers, one for each row of the result's last dimension (softmax cross-entropy),
/// or "targets", of the result's shape (mean squared error; binary cross-entropy of logits). The loss is called "loss".
/// Throws GraphError if there is no result of real numbers, or it is a single number.
void add_loss(Graph &graph, const OperatorSet &operators, LossKind kind);

} // namespace gradweave::graph
