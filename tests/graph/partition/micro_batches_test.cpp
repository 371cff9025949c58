// Micro-batches: no bit depends on their number, what is sliced and what stays whole, statistics, and what is refused.
#include "graph/partition/micro_batches.hpp"

#include "graph/golden/execution.hpp"
#include "graph/golden/initialise.hpp"
#include "graph/ir/error.hpp"
#include "graph/operators/table.hpp"
#include "graph/text/read.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

namespace gradweave::graph {
namespace {

/// Most operators that are row-wise, and some that are not.
const char *const kManyOperators = R"(graph "many"
input x fp32 [12, 8, 8, 4]
input labels int32 [12]
parameter w1 [1, 3, 3, 4, 4] init "kaiming"
parameter b1 [4] init "zeros"
parameter w2 [1, 3, 3, 4, 4] init "kaiming"
parameter gamma [16] init "ones"
parameter beta [16] init "zeros"
parameter scale [16] init "ones"
parameter w3 [16, 16] init "kaiming"
parameter w4 [16, 6] init "kaiming"
p1 = Conv(x, w1) pads=[1, 1, 1, 1]
s1 = Bias(p1, b1)
h1 = Relu(s1)
n1 = Neg(h1)
m1 = Max(h1, n1)
l1 = LeakyRelu(m1) alpha=0.1
p2 = Conv(l1, w2) pads=[1, 1, 1, 1]
t2 = Tanh(p2)
a2 = Add(t2, l1)
pool = MaxPool(a2) kernel_shape=[2, 2] strides=[2, 2]
average = AveragePool(pool) kernel_shape=[2, 2] strides=[2, 2]
flat = Flatten(average)
g3 = Gelu(flat)
norm, mean, rstd = LayerNormalization(g3, gamma, beta)
p3 = Gemm(norm, w3)
sig = Sigmoid(p3)
rms, rrstd = RMSNormalization(sig, scale)
square = Mul(rms, rms)
silu = Silu(square)
cube = Reshape(silu) shape=[12, 4, 4]
turned = Transpose(cube) perm=[0, 2, 1]
soft = Softmax(turned)
row = Reshape(soft) shape=[12, 16]
logits = Gemm(row, w4)
cost = SoftmaxCrossEntropy(logits, labels) ignore_index=3
result logits
loss cost
)";

const char *const kNormalized = R"(graph "normalized"
input x fp32 [12, 4, 4, 3]
input target fp32 [12, 4, 4, 5]
parameter w1 [1, 3, 3, 3, 4] init "kaiming"
parameter gamma [4] init "ones"
parameter beta [4] init "zeros"
state mean [4] init "zeros"
state variance [4] init "ones"
parameter w2 [1, 1, 1, 4, 5] init "kaiming"
p1 = Conv(x, w1) pads=[1, 1, 1, 1]
y, m, r, next_mean, next_variance = BatchNormalization(p1, gamma, beta, mean, variance)
h = Relu(y)
p2 = Conv(h, w2)
cost = MeanSquaredError(p2, target)
update mean = next_mean
update variance = next_variance
result p2
loss cost
)";

Graph read(const char *text) { return read_graph(text, "net.graph", operators()); }

PlacedStep step_of(const Graph &forward, const Partition &partition, std::uint32_t micro_batches, bool statistics) {
  PartitionedGraph network = partition_batch(forward, operators(), partition);
  if (statistics) network = split_statistics(network, operators(), micro_batches);
  PlacedStep placed;
  placed.step = training_graph(network.graph, operators(), {});
  placed.places = places_of_step(placed.step, network);
  placed.micro_batch_of.assign(placed.places.size(), kNone);
  return in_micro_batches(std::move(placed), partition, operators(), micro_batches);
}

/// The next values of parameters and state, gradients and loss, by name.
std::map<std::string, std::vector<float>> results(const TrainingGraph &step) {
  ExecutionOptions options;
  options.keep = [](TensorId) { return true; };
  Execution<Contract> values(step.graph, options);
  for (TensorId id = 0; id < step.graph.tensors.size(); ++id) {
    const Tensor &tensor = step.graph.tensors[id];
    if (tensor.role == Role::kParameter || tensor.role == Role::kState) values.set(id, initial_values(tensor, 3));
    if (tensor.role != Role::kInput) continue;
    std::mt19937 random(7);
    std::vector<float> real(tensor.shape.elements());
    for (float &x : real)
      x = static_cast<float>(random() % 2001) / 500 - 2;
    std::vector<std::int32_t> index(tensor.shape.elements());
    for (std::int32_t &i : index)
      i = static_cast<std::int32_t>(random() % 6);
    if (is_real(tensor.type))
      values.set(id, std::move(real));
    else
      values.set_index(id, std::move(index));
  }
  values.run();
  std::map<std::string, std::vector<float>> result;
  for (const Update &update : step.graph.updates)
    result["next of " + step.graph.tensors[update.tensor].name] = values.get(update.next).real;
  for (const ParameterGradient &g : step.gradients)
    result["gradient of " + step.graph.tensors[g.parameter].name] = values.get(g.gradient).real;
  result["loss"] = values.get(step.micro_batches.front().loss).real;
  return result;
}

std::set<std::string> sliced(const Graph &graph) {
  std::set<std::string> types;
  for (const Op &op : graph.ops)
    if (op.name.find(".micro1") != std::string::npos) types.emplace(op.type->name);
  return types;
}

TEST(MicroBatches, NoBitDependsOnTheirNumber) {
  const Graph forward = read(kManyOperators);
  for (const std::uint32_t parts : {1U, 2U, 3U})
    for (const std::uint32_t cut : {0U, 1U, 3U}) {
      const auto whole = results(step_of(forward, Partition::of_cut(cut, parts), 1, true).step);
      for (const std::uint32_t micro_batches : {2U, 4U}) {
        if (12 % (parts * micro_batches) != 0) continue;
        const PlacedStep placed = step_of(forward, Partition::of_cut(cut, parts), micro_batches, true);
        EXPECT_EQ(results(placed.step), whole) << parts << " parts, cut " << cut << ", " << micro_batches;
      }
    }
}

TEST(MicroBatches, WithOneDeviceBitsAreThoseOfTheNetwork) {
  const Graph forward = read(kManyOperators);
  const auto whole = results(training_graph(forward, operators(), {}));
  for (std::uint32_t cut = 0; cut < 4; ++cut)
    EXPECT_EQ(results(step_of(forward, Partition::of_cut(cut, 1), 3, true).step), whole) << cut;
}

TEST(MicroBatches, PartsOfAnySharesAndAnyWay) {
  const Graph forward = read(kManyOperators);
  Partition partition;
  partition.routes = {{1, {{0, 0}, {2, 1}, {3, 3}}}, {3, {{1, 0}, {3, 2}}}, {2, {{3, 0}}}};
  const auto whole = results(step_of(forward, partition, 1, true).step);
  const PlacedStep placed = step_of(forward, partition, 2, true);
  EXPECT_EQ(results(placed.step), whole);
  EXPECT_EQ(*std::max_element(placed.places.begin(), placed.places.end(),
                              [](std::uint32_t a, std::uint32_t b) { return a + 1 < b + 1; }),
            3U); // kHostPlace + 1 is 0
}

/// The loss is the mean over all images, wherever they are.
TEST(MicroBatches, WholeImagesOnEachDevice) {
  const Graph forward = read(kManyOperators);
  Partition partition;
  partition.routes = {{1, {{0, 0}}}, {3, {{1, 0}}}, {2, {{2, 0}}}};
  const auto by_device = results(step_of(forward, partition, 1, true).step);
  EXPECT_EQ(by_device.at("loss"), results(training_graph(forward, operators(), {})).at("loss"));
  EXPECT_EQ(results(step_of(forward, partition, 2, true).step), by_device);
}

TEST(MicroBatches, RowWiseOperatorsAreSliced) {
  const PlacedStep placed = step_of(read(kManyOperators), Partition::of_cut(1, 2), 3, true);
  const std::set<std::string> types = sliced(placed.step.graph);
  for (const std::string type : {"Conv",
                                 "ConvInputGradient",
                                 "Bias",
                                 "Relu",
                                 "ReluGradient",
                                 "Neg",
                                 "Max",
                                 "LeakyRelu",
                                 "LeakyReluGradient",
                                 "Tanh",
                                 "TanhGradient",
                                 "Add",
                                 "MaxPool",
                                 "MaxPoolGradient",
                                 "AveragePool",
                                 "AveragePoolGradient",
                                 "Flatten",
                                 "Gelu",
                                 "GeluGradient",
                                 "LayerNormalization",
                                 "LayerNormalizationGradient",
                                 "Gemm",
                                 "GemmInputGradient",
                                 "Sigmoid",
                                 "SigmoidGradient",
                                 "RMSNormalization",
                                 "RMSNormalizationGradient",
                                 "Mul",
                                 "Silu",
                                 "SiluGradient",
                                 "Reshape",
                                 "Transpose",
                                 "Softmax",
                                 "SoftmaxGradient",
                                 "SoftmaxCrossEntropyGradient",
                                 "Cast"})
    EXPECT_EQ(types.count(type), 1U) << type;
  for (const std::string type : {"ConvWeightGradient", "GemmWeightGradient", "BiasGradient", "SoftmaxCrossEntropy",
                                 "LayerNormalizationScaleGradient"})
    EXPECT_EQ(types.count(type), 0U) << type;
  for (OpId id = 0; id < placed.places.size(); ++id) {
    const std::string &name = placed.step.graph.ops[id].name;
    if (placed.micro_batch_of[id] == kNone) continue;
    EXPECT_NE(name.find(".micro" + std::to_string(placed.micro_batch_of[id])), std::string::npos) << name;
  }
}

/// Rows become columns: what follows is no batch.
TEST(MicroBatches, WhatTurnsTheBatchStaysWhole) {
  const Graph forward = read(R"(graph "turned"
input x fp32 [4, 4]
input target fp32 [4, 4]
parameter w1 [4, 4] init "kaiming"
parameter w2 [4, 4] init "kaiming"
p1 = Gemm(x, w1)
t1 = Transpose(p1) perm=[1, 0]
p2 = Gemm(t1, w2)
cost = MeanSquaredError(p2, target)
loss cost
)");
  const PlacedStep placed = step_of(forward, Partition::of_cut(0, 1), 2, true);
  EXPECT_EQ(results(placed.step), results(training_graph(forward, operators(), {})));
  EXPECT_EQ(sliced(placed.step.graph).count("Gemm"), 1U);
  EXPECT_EQ(sliced(placed.step.graph).count("Transpose"), 0U);
}

/// A barrier as long as they are over the batch; else by micro-batch, one behind another.
TEST(MicroBatches, StatisticsAreOfAMicroBatch) {
  const Graph forward = read(kNormalized);
  const auto whole = results(training_graph(forward, operators(), {}));
  EXPECT_EQ(results(step_of(forward, Partition::of_cut(1, 1), 3, false).step), whole);
  const PlacedStep placed = step_of(forward, Partition::of_cut(1, 1), 3, true);
  const auto by_three = results(placed.step);
  EXPECT_NE(by_three, whole);
  EXPECT_EQ(sliced(placed.step.graph).count("BatchNormalization"), 1U);
  EXPECT_EQ(results(step_of(forward, Partition::of_cut(0, 1), 3, true).step), by_three); // whatever the cut
  // The same batch as three devices of one micro-batch each, but for running averages: those are the first device's.
  auto by_devices = results(step_of(forward, Partition::of_cut(1, 3), 1, true).step);
  EXPECT_EQ(by_devices.at("loss"), by_three.at("loss"));
  EXPECT_NE(by_devices.at("next of mean"), by_three.at("next of mean"));
}

TEST(MicroBatches, RunningAveragesGoOnFromOneToTheNext) {
  const PlacedStep placed = step_of(read(kNormalized), Partition::of_cut(1, 1), 2, true);
  const Graph &graph = placed.step.graph;
  std::vector<const Op *> norms;
  for (const Op &op : graph.ops)
    if (op.type->name == "BatchNormalization") norms.push_back(&op);
  ASSERT_EQ(norms.size(), 2U);
  EXPECT_EQ(norms[1]->inputs[3], norms[0]->outputs[3]);
  EXPECT_EQ(norms[1]->inputs[4], norms[0]->outputs[4]);
  for (const Update &update : graph.updates)
    if (graph.tensors[update.tensor].name == "mean") EXPECT_EQ(update.next, norms[1]->outputs[3]);
}

std::string message(const Graph &forward, const Partition &partition, std::uint32_t micro_batches) {
  try {
    step_of(forward, partition, micro_batches, true);
  } catch (const GraphError &error) {
    return error.what();
  }
  return "";
}

TEST(MicroBatches, ABatchThatTheyDoNotDivideIsNamed) {
  EXPECT_NE(
      message(read(kManyOperators), Partition::of_cut(1, 2), 4)
          .find("the batch of input 'x', 12, is not divisible by 2 shares of 4 micro-batches each; use a multiple "
                "of 8"),
      std::string::npos)
      << message(read(kManyOperators), Partition::of_cut(1, 2), 4);
  EXPECT_NE(message(read(kNormalized), Partition::of_cut(1, 1), 5).find("takes statistics over 12 rows"),
            std::string::npos);
}

} // namespace
} // namespace gradweave::graph
