// Networks cut over devices: the copies, what sums their gradients in which order, where ops run, and what is refused.
#include "graph/partition/partition.hpp"

#include "graph/golden/execution.hpp"
#include "graph/golden/initialise.hpp"
#include "graph/ir/error.hpp"
#include "graph/operators/table.hpp"
#include "graph/text/read.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace gradweave::graph {
namespace {

const char *const kNetwork = R"(graph "net"
input x bf16 [6, 4]
input labels int32 [6]
parameter w1 [4, 5] init "kaiming"
parameter b1 [5] init "zeros"
parameter w2 [5, 3] init "kaiming"
p1 = Gemm(x, w1)
s1 = Bias(p1, b1)
h1 = Relu(s1)
logits = Gemm(h1, w2)
cost = SoftmaxCrossEntropy(logits, labels)
result logits
loss cost
)";

Graph net() { return read_graph(kNetwork, "net.graph", operators()); }

const Op *op_of(const Graph &graph, const std::string &name) {
  const auto found = std::find_if(graph.ops.begin(), graph.ops.end(), [&](const Op &op) { return op.name == name; });
  return found == graph.ops.end() ? nullptr : &*found;
}

std::string message(const Graph &forward, const Partition &partition) {
  try {
    partition_batch(forward, operators(), partition);
  } catch (const GraphError &error) {
    return error.what();
  }
  return "";
}

/// Images that come together are cut behind the first layer.
TEST(Partition, PartsOfWhatIsComputedHaveToBeWhole) {
  Partition partition;
  partition.routes = {{1, {{0, 0}, {1, 1}}}, {3, {{0, 0}, {2, 1}}}};
  EXPECT_NE(message(net(), partition)
                .find("tensor 'h1' [6, 5] is cut into parts, and its first dimension is not "
                      "divisible by the 4 shares"),
            std::string::npos)
      << message(net(), partition);
}

TEST(Partition, LowerLayersAreThereOnceForEachPart) {
  const PartitionedGraph cut = partition_batch(net(), operators(), Partition::of_cut(1, 3));
  EXPECT_EQ(count_layers(net()), 2U);
  EXPECT_EQ(count_layers(cut.graph), 4U);
  for (const std::string part : {".part0", ".part1", ".part2"})
    for (const std::string name : {"p1", "s1", "h1"}) {
      const TensorId id = cut.graph.find(name + part);
      ASSERT_NE(id, kNone) << name << part;
      EXPECT_EQ(cut.graph.tensors[id].shape, (Shape{2, 5}));
    }
  const TensorId whole = cut.graph.find("h1");
  ASSERT_NE(whole, kNone);
  EXPECT_EQ(cut.graph.ops[cut.graph.tensors[whole].producer].type->name, "Concat");
  EXPECT_EQ(count_parameters(cut.graph), count_parameters(net()));
}

TEST(Partition, OnePartAddsNothing) {
  const PartitionedGraph cut = partition_batch(net(), operators(), Partition::of_cut(1, 1));
  EXPECT_EQ(cut.graph.ops.size(), net().ops.size());
  EXPECT_EQ(cut.places, (std::vector<std::uint32_t>{0, 0, 0, 1, 1}));
}

TEST(Partition, NothingBelowTheCutIsAllOnTheUpperDevice) {
  const PartitionedGraph cut = partition_batch(net(), operators(), Partition::of_cut(0, 3));
  EXPECT_EQ(cut.graph.ops.size(), net().ops.size());
  EXPECT_EQ(cut.places, std::vector<std::uint32_t>(5, 3));
}

TEST(Partition, GradientsAreAddedInTheOrderOfParts) {
  const PartitionedGraph cut = partition_batch(net(), operators(), Partition::of_cut(1, 3));
  TrainingOptions options;
  options.extent = Extent::kGradients;
  const TrainingGraph step = training_graph(cut.graph, operators(), options);
  const TensorId w1 = step.graph.find("w1");
  const auto gradient = std::find_if(step.gradients.begin(), step.gradients.end(),
                                     [w1](const ParameterGradient &g) { return g.parameter == w1; });
  ASSERT_NE(gradient, step.gradients.end());
  const auto places = places_of_step(step, cut);
  const Op &outer = step.graph.ops[step.graph.tensors[gradient->gradient].producer];
  const Op &inner = step.graph.ops[step.graph.tensors[outer.inputs[0]].producer];
  EXPECT_EQ(outer.type->name, "Add");
  EXPECT_EQ(inner.type->name, "Add");
  const auto place_of = [&](TensorId id) { return places[step.graph.tensors[id].producer]; };
  EXPECT_EQ(place_of(inner.inputs[0]), 0U);
  EXPECT_EQ(place_of(inner.inputs[1]), 1U);
  EXPECT_EQ(place_of(outer.inputs[1]), 2U);
  EXPECT_EQ(place_of(gradient->gradient), 0U); // at the first of them
}

TEST(Partition, EveryOpHasAPlaceOfItsOwnDataOrParameter) {
  const PartitionedGraph cut = partition_batch(net(), operators(), Partition::of_cut(1, 2));
  const TrainingGraph step = training_graph(cut.graph, operators(), {});
  const auto places = places_of_step(step, cut);
  ASSERT_EQ(places.size(), step.graph.ops.size());
  for (OpId id = 0; id < places.size(); ++id)
    EXPECT_TRUE(places[id] <= 2 || places[id] == kHostPlace) << step.graph.ops[id].name;
  std::map<TensorId, std::uint32_t> home;
  for (const Update &update : step.graph.updates)
    home[update.tensor] = places[step.graph.tensors[update.next].producer];
  EXPECT_EQ(home.at(step.graph.find("w1")), 0U);
  EXPECT_EQ(home.at(step.graph.find("b1")), 0U);
  EXPECT_EQ(home.at(step.graph.find("w2")), 2U);
  ASSERT_NE(op_of(step.graph, "p1.part1"), nullptr);
}

/// What the parts compute is what the whole does: rows of a product do not know each other.
TEST(Partition, TheForwardPassHasTheBitsOfTheWhole) {
  const Graph whole = net();
  const PartitionedGraph cut = partition_batch(whole, operators(), Partition::of_cut(1, 2));
  const auto logits = [](const Graph &forward) {
    TrainingOptions options;
    options.extent = Extent::kForward;
    const TrainingGraph step = training_graph(forward, operators(), options);
    Execution<Contract> values(step.graph);
    for (TensorId id = 0; id < step.graph.tensors.size(); ++id) {
      const Tensor &tensor = step.graph.tensors[id];
      if (tensor.role == Role::kParameter) values.set(id, initial_values(tensor, 3));
      if (tensor.name == "labels") values.set_index(id, {0, 1, 2, 0, 1, 2});
      if (tensor.name != "x") continue;
      std::vector<float> x(tensor.shape.elements());
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i % 7) - 3;
      values.set(id, x);
    }
    values.run();
    return values.get(step.graph.find("logits")).real;
  };
  EXPECT_EQ(logits(whole), logits(cut.graph));
}

TEST(Partition, WhatCannotBeCutIsNamed) {
  EXPECT_NE(message(net(), Partition::of_cut(2, 2)).find("cut = 2 is beyond the network, which has 2 layers"),
            std::string::npos);
  EXPECT_NE(message(net(), Partition::of_cut(1, 4))
                .find("the batch of input 'x', 6, is not divisible by the 4 shares of devices"),
            std::string::npos);
  const Graph scalar = read_graph(R"(graph "net"
input x fp32 [4, 4]
input target fp32 [4, 4]
parameter w1 [4, 4] init "kaiming"
parameter w2 [4, 4] init "kaiming"
p1 = Gemm(x, w1)
t1 = Transpose(p1) perm=[1, 0]
p2 = Gemm(t1, w2)
cost = MeanSquaredError(p2, target)
loss cost
)",
                                  "net.graph", operators());
  EXPECT_EQ(message(scalar, Partition::of_cut(1, 1)), "");
  EXPECT_NE(
      message(scalar, Partition::of_cut(1, 2)).find("tensor 't1' [4, 4] crosses the cut and has no batch in front"),
      std::string::npos)
      << message(scalar, Partition::of_cut(1, 2));
}

} // namespace
} // namespace gradweave::graph
