// The operators of whole training steps of networks, with data for each of them, and what golden execution makes of it.
#pragma once

#include "base/random/dice.hpp"
#include "graph/golden/kernel.hpp"
#include "graph/passes/training.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::compiler {

struct NetworkStep {
  std::string name;
  graph::Graph graph;
};

/// Training steps of bert_tiny, lenet, mlp_fashion and resnet50 with few layers, rows and pixels: AdamW, dense and for
/// the embeddings' rows that a batch has; with clipping; and SGD with momentum. And one of pooling by averages and
/// enlarged images, one of dropout, and one of tensors of both types side by side, which these do not have.
std::vector<NetworkStep> network_steps();

/// Training steps of the same networks as they are: batch 4 of bert_tiny and resnet50, 32 of the others; AdamW, of
/// resnet50 SGD with momentum. And Dropout, which is off in all of them, of bert_tiny's activations.
std::vector<NetworkStep> full_network_steps();

/// Ops of all steps that are no products, one of those that differ in nothing but names.
struct StepOp {
  const NetworkStep *step;
  const graph::Op *op;
};
std::vector<StepOp> distinct_ops(const std::vector<NetworkStep> &steps);

enum class Values {
  kTame,    ///< numbers up to 16, of both signs and several magnitudes
  kSpecial, ///< one of eight is an infinity, a NaN, a zero, a subnormal, or very large or small
};

/// An op's inputs and golden outputs, rounded to the types of their edges.
struct OpData {
  std::vector<graph::Buffer<graph::Contract>> inputs, outputs; ///< empty where the op has none
};
OpData random_data(const graph::Graph &graph, const graph::Op &op, Values values, Dice &dice);

/// One input of an op, drawn.
graph::Buffer<graph::Contract> random_input(const graph::Graph &graph, const graph::Op &op, std::size_t input,
                                            Values values, Dice &dice);

/// Golden outputs of an op for these inputs.
std::vector<graph::Buffer<graph::Contract>> golden_outputs(const graph::Graph &graph, const graph::Op &op,
                                                           const std::vector<graph::Buffer<graph::Contract>> &inputs);

/// The whole numbers among its inputs alone.
OpData random_indices(const graph::Graph &graph, const graph::Op &op, Dice &dice);

/// Bits of a buffer's elements: of numbers as fp32, or whole numbers.
std::vector<std::uint32_t> bits_of(const graph::Buffer<graph::Contract> &buffer);

} // namespace gradweave::compiler
