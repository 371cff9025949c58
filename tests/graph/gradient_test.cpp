#include "graph/build/builder.hpp"
#include "graph/build/verify.hpp"
#include "graph/golden/execution.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/dead_code.hpp"
#include "graph/passes/edges.hpp"
#include "graph/passes/gradient.hpp"

#include <gtest/gtest.h>

namespace gradweave::graph {
namespace {

TEST(Gradient, RefusesAGraphWithoutLoss) {
  Graph graph;
  graph.name = "net";
  EXPECT_THROW(add_gradients(graph, operators()), GraphError);
}

TEST(Gradient, OfATensorThatTwoProductsReadIsTheSumOfBoth) {
  Graph graph;
  Builder b(graph, operators());
  const TensorId x = b.parameter("x", {1, 1}, "zeros"), w = b.parameter("w", {1, 1}, "zeros");
  const TensorId y = b.add("Gemm", {x, w}, {}, "y"), z = b.add("Gemm", {x, w}, {}, "z");
  const TensorId target = b.input("t", ElementType::kFp32, {1, 1});
  graph.loss = b.add("MeanSquaredError", {b.add("Add", {y, z}, {}, "sum"), target}, {}, "loss");
  const std::vector<ParameterGradient> gradients = add_gradients(graph, operators());
  ASSERT_EQ(gradients.size(), 2U);
  graph.results = {gradients[0].gradient};
  verify(graph);
  Execution<Reference> run(graph);
  run.set(x, {3});
  run.set(w, {5});
  run.set(target, {10});
  run.run();
  EXPECT_EQ(run.get(gradients[0].gradient).real, std::vector<double>{2 * (2 * 3 * 5 - 10) * (2 * 5)});
}

/// Gradients drop what their ops dropped, so that the network's streams are looked at before there are any.
TEST(Gradient, RefusesTwoDropoutsOfOneStream) {
  for (const std::int64_t second : {4, 5}) {
    Graph graph;
    Builder b(graph, operators());
    b.at("net.graph:7");
    const TensorId x = b.parameter("x", {2}, "zeros"), key = b.input("key", ElementType::kInt32, {2});
    const auto drop = [&](TensorId of, std::int64_t stream, std::string name) {
      return b.add("Dropout", {of, key}, {{"ratio", 0.5}, {"stream", stream}}, std::move(name));
    };
    const TensorId y = drop(drop(x, 4, "d1"), second, "d2");
    graph.loss = b.add("MeanSquaredError", {y, b.input("t", ElementType::kFp32, {2})}, {}, "loss");
    std::string message;
    try {
      add_gradients(graph, operators());
    } catch (const GraphError &error) {
      message = error.what();
    }
    EXPECT_EQ(message, second == 5 ? ""
                                   : "net.graph:7: op 'd2' (Dropout): attribute 'stream' = 4 is also that of "
                                     "net.graph:7: op 'd1' (Dropout); give it a number of its own, or leave it out");
  }
}

/// Each reader's gradient has a name of its own, and so has each sum of them.
TEST(Gradient, SumsThoseOfManyReaders) {
  Graph graph;
  Builder b(graph, operators());
  const TensorId x = b.input("x", ElementType::kBf16, {4, 8});
  const TensorId w = b.parameter("w", {8, 8}, "zeros");
  const TensorId labels = b.input("labels", ElementType::kInt32, {4});
  TensorId y = b.add("Gemm", {x, w}, {}, "y0");
  for (int i = 1; i < 4; ++i)
    y = b.add("Gemm", {y, w});
  graph.loss = b.add("SoftmaxCrossEntropy", {y, labels}, {}, "loss");
  const std::vector<ParameterGradient> gradients = add_gradients(graph, operators());
  ASSERT_EQ(gradients.size(), 1U);
  EXPECT_NE(graph.find("d(w).sum_3"), kNone);
  verify(graph);
}

TEST(Edges, ProductsOperandsAreBf16AndWeightsAreCastOnce) {
  Graph graph;
  Builder b(graph, operators());
  const TensorId x = b.input("x", ElementType::kBf16, {4, 8});
  const TensorId w = b.parameter("w", {8, 8}, "zeros");
  const TensorId y = b.add("Relu", {b.add("Gemm", {x, w}, {}, "p")}, {}, "y");
  const TensorId z = b.add("Gemm", {y, w}, {}, "z");
  graph.results = {b.add("Add", {z, y}, {}, "sum")};
  assign_edges(graph, operators());
  verify(graph);
  const auto type = [&](const char *name) { return graph.tensors[graph.find(name)].type; };
  EXPECT_EQ(type("p"), ElementType::kBf16);
  EXPECT_EQ(type("y"), ElementType::kBf16);
  EXPECT_EQ(type("z"), ElementType::kFp32); // a sum reads it
  EXPECT_EQ(type("w"), ElementType::kFp32);
  EXPECT_EQ(type("w.bf16"), ElementType::kBf16);
  EXPECT_EQ(graph.ops.size(), 5U);
}

} // namespace
} // namespace gradweave::graph
