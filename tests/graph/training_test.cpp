// Steps of training as graphs: what they have, what they leave out, and what they compute.
#include "graph/build/builder.hpp"
#include "graph/golden/execution.hpp"
#include "graph/golden/initialise.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/training.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace gradweave::graph {
namespace {

constexpr std::uint32_t kRows = 5;

/// logits = relu(x w1 + b1) w2; `extra` may add to it.
struct Network {
  explicit Network(bool frozen = false) {
    graph.name = "two_layers";
    Builder build(graph, operators());
    const TensorId x = build.input("x", ElementType::kFp32, {kRows, 7});
    const TensorId labels = build.input("labels", ElementType::kInt32, {kRows});
    const TensorId w1 = build.parameter("w1", {7, 6}, "kaiming", frozen);
    const TensorId b1 = build.parameter("b1", {6}, "zeros");
    const TensorId w2 = build.parameter("w2", {6, 4}, "kaiming");
    build.parameter("unused", {3}, "ones");
    const TensorId h = build.add("Relu", {build.add("Bias", {build.add("Gemm", {x, w1}), b1})});
    const TensorId logits = build.add("Gemm", {h, w2}, {}, "logits");
    graph.loss = build.add("SoftmaxCrossEntropy", {logits, labels}, {}, "loss");
    graph.results = {logits};
  }
  Graph graph;
};

std::size_t ops_called(const Graph &graph, std::string_view name) {
  std::size_t count = 0;
  for (const Op &op : graph.ops)
    count += op.type->name == name ? 1 : 0;
  return count;
}

/// Rows `first` on of a batch of `rows`.
std::vector<float> some_x(std::size_t first, std::size_t rows) {
  std::vector<float> x;
  for (std::size_t i = first * 7; i < (first + rows) * 7; ++i)
    x.push_back(static_cast<float>(std::sin(0.7 * static_cast<double>(i))));
  return x;
}
std::vector<std::int32_t> some_labels(std::size_t first, std::size_t rows) {
  std::vector<std::int32_t> labels;
  for (std::size_t i = first; i < first + rows; ++i)
    labels.push_back(static_cast<std::int32_t>(i * 3 % 4));
  return labels;
}

/// Runs a step; parameters and state as a fresh network has them.
Execution<Contract> run(const TrainingGraph &step, const std::vector<float> &constants) {
  Execution<Contract> values(step.graph, {true, 1, [](TensorId) { return true; }});
  for (TensorId id = 0; id < step.graph.tensors.size(); ++id)
    if (const Role role = step.graph.tensors[id].role; role == Role::kParameter || role == Role::kState)
      values.set(id, initial_values(step.graph.tensors[id], 1));
  for (std::size_t b = 0; b < step.micro_batches.size(); ++b)
    for (const auto &[forward, id] : step.micro_batches[b].inputs) {
      if (is_real(step.graph.tensors[id].type))
        values.set(id, some_x(b * kRows, kRows));
      else
        values.set_index(id, some_labels(b * kRows, kRows));
    }
  if (step.constants != kNone) values.set(step.constants, constants);
  values.run();
  return values;
}

TEST(Training, GoesAsFarAsIsAskedFor) {
  const Network network;
  TrainingOptions options;
  options.extent = Extent::kForward;
  const TrainingGraph forward = training_graph(network.graph, operators(), options);
  EXPECT_EQ(ops_called(forward.graph, "GemmWeightGradient"), 0U);
  EXPECT_EQ(forward.constants, kNone);
  options.extent = Extent::kGradients;
  const TrainingGraph gradients = training_graph(network.graph, operators(), options);
  EXPECT_EQ(gradients.gradients.size(), 3U);
  EXPECT_EQ(ops_called(gradients.graph, "GemmWeightGradient"), 2U);
  EXPECT_EQ(ops_called(gradients.graph, "GemmInputGradient"), 1U) << "nobody wants the gradient of x";
  EXPECT_TRUE(gradients.graph.updates.empty());
  options.extent = Extent::kUpdates;
  const TrainingGraph updates = training_graph(network.graph, operators(), options);
  EXPECT_EQ(ops_called(updates.graph, "AdamW"), 3U);
  EXPECT_EQ(updates.graph.updates.size(), 9U) << "each parameter, and two moments of each";
  EXPECT_EQ(updates.graph.tensors[updates.constants].shape, Shape{3});
}

TEST(Training, LeavesFrozenParametersAsTheyAre) {
  const Network network(true);
  const TrainingGraph step = training_graph(network.graph, operators(), {});
  EXPECT_EQ(ops_called(step.graph, "GemmWeightGradient"), 1U);
  for (const Update &update : step.graph.updates)
    EXPECT_NE(step.graph.tensors[update.tensor].name, "w1");
}

TEST(Training, SgdKeepsStateOnlyOfAMomentum) {
  const Network network;
  TrainingOptions options;
  options.optimizer = OptimizerKind::kSgd;
  EXPECT_EQ(training_graph(network.graph, operators(), options).graph.updates.size(), 3U);
  options.momentum = 0.9;
  EXPECT_EQ(training_graph(network.graph, operators(), options).graph.updates.size(), 6U);
}

TEST(Training, SgdGoesDownTheGradient) {
  const Network network;
  TrainingOptions options;
  options.optimizer = OptimizerKind::kSgd;
  const TrainingGraph step = training_graph(network.graph, operators(), options);
  const auto values = run(step, {0.5F});
  for (const ParameterGradient &g : step.gradients)
    for (const Update &update : step.graph.updates) {
      if (update.tensor != g.parameter) continue;
      const auto &w = values.get(g.parameter).real, &dw = values.get(g.gradient).real,
                 &next = values.get(update.next).real;
      for (std::size_t i = 0; i < w.size(); ++i)
        EXPECT_EQ(next[i], std::fmaf(-0.5F, dw[i], w[i]));
    }
}

/// Gradients over micro-batches are those of the whole batch, but for roundings: each micro-batch's loss is a mean.
TEST(Training, MicroBatchesAddUpToTheWholeBatch) {
  TrainingOptions options;
  options.extent = Extent::kGradients;
  options.accumulate = 2;
  const Network network;
  const TrainingGraph step = training_graph(network.graph, operators(), options);
  EXPECT_EQ(step.micro_batches.size(), 2U);
  EXPECT_NE(step.micro_batches[0].loss, step.micro_batches[1].loss);
  options.accumulate = 1;
  const TrainingGraph one = training_graph(network.graph, operators(), options);
  const auto both = run(step, {}), first = run(one, {});
  for (std::size_t i = 0; i < step.gradients.size(); ++i) {
    const auto &sum = both.get(step.gradients[i].gradient).real;
    EXPECT_NE(sum, first.get(one.gradients[i].gradient).real);
    double norm = 0;
    for (const float v : sum)
      norm += double(v) * v;
    EXPECT_GT(norm, 0);
  }
}

/// From the second micro-batch on the gradient of weights begins with the sum of those before.
TEST(Training, TheChainOfAWeightGradientGoesOn) {
  TrainingOptions options;
  options.extent = Extent::kGradients;
  options.accumulate = 3;
  const Network network;
  const TrainingGraph step = training_graph(network.graph, operators(), options);
  std::size_t continued = 0;
  for (const Op &op : step.graph.ops)
    if (op.type->name == "GemmWeightGradient" && op.inputs.size() > 2 && op.inputs[2] != kNone) ++continued;
  EXPECT_EQ(continued, 4U) << "of two layers, in two micro-batches";
  const auto gradient = [&](std::string_view parameter) {
    for (const ParameterGradient &g : step.gradients)
      if (step.graph.tensors[g.parameter].name == parameter) return step.graph.tensors[g.gradient].producer;
    return kNone;
  };
  EXPECT_EQ(step.graph.ops[gradient("w2")].type->name, "GemmWeightGradient");
  const Op &bias = step.graph.ops[gradient("b1")];
  EXPECT_EQ(bias.type->name, "BiasGradient");
  EXPECT_NE(bias.inputs.back(), kNone) << "it, too, takes an initial value";
}

TEST(Training, WhatCannotBeIsAnError) {
  const auto problem = [](const Graph &graph, const TrainingOptions &options) -> std::string {
    try {
      training_graph(graph, operators(), options);
    } catch (const GraphError &error) {
      return error.what();
    }
    return "none";
  };
  Network network;
  TrainingOptions options;
  options.accumulate = 0;
  EXPECT_NE(problem(network.graph, options).find("at least one micro-batch"), std::string::npos);
  options.accumulate = 2;
  options.sparse_embeddings = true;
  EXPECT_NE(problem(network.graph, options).find("leave out --sparse-embeddings"), std::string::npos);
  network.graph.loss = kNone;
  EXPECT_NE(problem(network.graph, {}).find("has no loss"), std::string::npos);
  EXPECT_THROW(parse_optimizer("adam"), std::invalid_argument);
}

} // namespace
} // namespace gradweave::graph
