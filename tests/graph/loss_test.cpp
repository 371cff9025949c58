// Losses for networks that have none, and tensors that lie otherwise in the file that they came from.
#include "graph/build/builder.hpp"
#include "graph/golden/initialise.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/loss.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace gradweave::graph {
namespace {

Graph rows() {
  Graph graph;
  graph.name = "rows";
  Builder build(graph, operators());
  graph.results = {build.add("Relu", {build.input("x", ElementType::kFp32, {3, 2, 5})}, {}, "y")};
  return graph;
}

std::string refusal(Graph graph, LossKind kind) {
  try {
    add_loss(graph, operators(), kind);
  } catch (const GraphError &error) {
    return error.what();
  }
  return {};
}

TEST(Loss, IsOfTheFirstResult) {
  for (const auto &[name, op, other, type, shape] :
       {std::tuple{"cross_entropy", "SoftmaxCrossEntropy", "labels", ElementType::kInt32, Shape{3, 2}},
        std::tuple{"mse", "MeanSquaredError", "targets", ElementType::kFp32, Shape{3, 2, 5}},
        std::tuple{"bce", "BinaryCrossEntropyWithLogits", "targets", ElementType::kFp32, Shape{3, 2, 5}}}) {
    Graph graph = rows();
    add_loss(graph, operators(), parse_loss(name));
    verify(graph);
    EXPECT_EQ(graph.ops.back().type->name, op);
    EXPECT_EQ(graph.tensors[graph.loss].name, "loss");
    const Tensor &compared = graph.tensors[graph.find(other)];
    EXPECT_EQ(compared.type, type);
    EXPECT_EQ(compared.shape, shape);
  }
  EXPECT_THROW(parse_loss("hinge"), std::invalid_argument);
}

TEST(Loss, OfPlacesIsThatOfTheirScores) {
  Graph graph = rows();
  Builder build(graph, operators());
  graph.results = {build.add("ArgMax", {graph.find("y")}, {{"axis", std::int64_t{-1}}}, "best")};
  add_loss(graph, operators(), LossKind::kCrossEntropy);
  verify(graph);
  EXPECT_EQ(graph.ops.back().inputs[0], graph.find("y"));
}

TEST(Loss, NeedsNumbers) {
  Graph none = rows();
  none.results.clear();
  EXPECT_EQ(refusal(none, LossKind::kMeanSquare), "graph 'rows' has no result that a loss could be of");
  Graph whole = rows();
  Builder build(whole, operators());
  whole.results = {build.add("Equal", {whole.find("x"), whole.find("y")}, {}, "same")};
  EXPECT_EQ(refusal(whole, LossKind::kMeanSquare),
            "graph 'rows': a loss is of real numbers, and 'same' is int32 [3, 2, 5]");
}

TEST(Loss, OfASingleNumberIsNoneOfClasses) {
  Graph single = rows();
  Builder build(single, operators());
  single.results = {build.add("ReduceMean", {single.find("y")}, {{"keepdims", std::int64_t{0}}}, "mean")};
  EXPECT_EQ(refusal(single, LossKind::kCrossEntropy),
            "graph 'rows': 'mean' is a single number, and cross-entropy is of a row of classes; take another loss "
            "(--loss mse), or end the network before it (--until)");
  add_loss(single, operators(), LossKind::kMeanSquare);
  verify(single);
  EXPECT_EQ(single.tensors[single.find("targets")].shape, Shape{});
}

TEST(Origin, LeadsThereAndBack) {
  // [2 groups x 2, 3] there is [3, 2, 2] here, groups last.
  const Origin origin{{4, 3}, {2, 2, 3}, {2, 1, 0}, {}};
  std::vector<int> there(12);
  for (int i = 0; i < 12; ++i)
    there[static_cast<std::size_t>(i)] = i;
  const std::vector<int> here = from_file(origin, there);
  EXPECT_EQ(here, (std::vector<int>{0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11}));
  EXPECT_EQ(to_file(origin, here), there);
}

TEST(Origin, HasTheFirstValues) {
  Tensor tensor;
  tensor.shape = {2};
  tensor.initial = "ones";
  EXPECT_EQ(initial_values(tensor, 1), (std::vector<float>{1, 1}));
  tensor.origin = std::make_shared<Origin>(Origin{{2}, {2}, {0}, {3, 4}});
  EXPECT_EQ(initial_values(tensor, 1), (std::vector<float>{3, 4}));
  tensor.origin = std::make_shared<Origin>(Origin{{2}, {2}, {0}, {}});
  EXPECT_EQ(initial_values(tensor, 1), (std::vector<float>{1, 1}));
}

} // namespace
} // namespace gradweave::graph
