#include "graph/passes/loss.hpp"

#include "graph/build/builder.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::graph {

std::string loss_names() { return "cross_entropy, mse or bce"; }

LossKind parse_loss(std::string_view name) {
  if (name == "cross_entropy") return LossKind::kCrossEntropy;
  if (name == "mse") return LossKind::kMeanSquare;
  if (name == "bce") return LossKind::kBinaryCrossEntropy;
  throw std::invalid_argument(fmt::format("there is no loss '{}'; there are {}", name, loss_names()));
}

namespace {

/// What the loss of a result is of: of the places of largest scores, which have no derivative, the scores.
TensorId compared(const Graph &graph, TensorId result) {
  const Tensor &tensor = graph.tensors[result];
  if (!tensor.computed()) return result;
  const Op &producer = graph.ops[tensor.producer];
  return producer.type->name == "ArgMax" ? producer.inputs[0] : result;
}

} // namespace

void add_loss(Graph &graph, const OperatorSet &operators, LossKind kind) {
  Builder build(graph, operators);
  if (graph.results.empty()) build.fail(fmt::format("graph '{}' has no result that a loss could be of", graph.name));
  const TensorId output = compared(graph, graph.results.front());
  const Shape shape = graph.tensors[output].shape;
  if (!is_real(graph.tensors[output].type))
    build.fail(fmt::format("graph '{}': a loss is of real numbers, and '{}' is {} {}", graph.name,
                           graph.tensors[output].name, to_string(graph.tensors[output].type), shape.text()));
  if (kind == LossKind::kCrossEntropy) {
    if (shape.rank() == 0)
      build.fail(
          fmt::format("graph '{}': '{}' is a single number, and cross-entropy is of a row of classes; take another "
                      "loss (--loss mse), or end the network before it (--until)",
                      graph.name, graph.tensors[output].name));
    const std::vector<std::uint32_t> &dims = shape.dims();
    const TensorId labels =
        build.input(build.fresh("labels"), ElementType::kInt32, Shape({dims.begin(), dims.end() - 1}));
    graph.loss = build.add("SoftmaxCrossEntropy", {output, labels}, {}, build.fresh("loss"));
    return;
  }
  const TensorId targets = build.input(build.fresh("targets"), ElementType::kFp32, shape);
  graph.loss = build.add(kind == LossKind::kMeanSquare ? "MeanSquaredError" : "BinaryCrossEntropyWithLogits",
                         {output, targets}, {}, build.fresh("loss"));
}

} // namespace gradweave::graph
