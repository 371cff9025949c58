#include "graph/build/builder.hpp"
#include "graph/operators/table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

namespace gradweave::graph {
namespace {

std::string error_of(const std::function<void(Builder &)> &body) {
  Graph graph;
  Builder builder(graph, operators());
  builder.at("net.graph:3");
  try {
    body(builder);
  } catch (const GraphError &error) {
    return error.what();
  }
  return {};
}

TEST(Builder, RefusesAnUnknownOperator) {
  EXPECT_EQ(
      error_of([](Builder &b) { b.add("Gem", {}, {}, "y"); }),
      "net.graph:3: there is no operator 'Gem' (node 'y'); `gradweave models --operators` lists those that there are");
}

TEST(Builder, RefusesASecondWriter) {
  EXPECT_EQ(error_of([](Builder &b) {
              b.input("x", ElementType::kFp32, {2});
              b.input("x", ElementType::kFp32, {2});
            }),
            "net.graph:3: tensor 'x' has two writers, the other in net.graph:3; each is computed once: rename one");
}

TEST(Builder, RefusesUnknownAttributes) {
  EXPECT_EQ(error_of([](Builder &b) {
              b.add("Relu", {b.input("x", ElementType::kFp32, {2})}, {{"axis", std::int64_t{1}}}, "y");
            }),
            "net.graph:3: op 'y' (Relu): there is no attribute 'axis'; the operator has none");
}

TEST(Builder, GivesEachDropoutAStreamOfItsOwn) {
  Graph graph;
  std::vector<std::int64_t> streams;
  for (const std::optional<std::int64_t> given : {std::optional<std::int64_t>{}, {}, {7}, {}, {3}, {}}) {
    Builder b(graph, operators()); // each knows what is there
    const std::string name = fmt::format("y{}", streams.size());
    const TensorId x = b.input("x" + name, ElementType::kFp32, {2}),
                   key = b.input("k" + name, ElementType::kInt32, {2});
    Attributes attributes{{"ratio", 0.5}};
    if (given) attributes.set("stream", *given);
    b.add("Dropout", {x, key}, attributes, name);
    streams.push_back(graph.ops.back().attributes.integer("stream"));
  }
  EXPECT_EQ(streams, (std::vector<std::int64_t>{0, 1, 7, 8, 3, 9}));
}

TEST(Builder, TakesStreamsOf32Bits) {
  const auto last_of = [](std::vector<std::optional<std::int64_t>> streams) {
    return error_of([&](Builder &b) {
      TensorId x = b.input("x", ElementType::kFp32, {2});
      const TensorId key = b.input("key", ElementType::kInt32, {2});
      for (const auto &stream : streams) {
        Attributes attributes{{"ratio", 0.5}};
        if (stream) attributes.set("stream", *stream);
        x = b.add("Dropout", {x, key}, attributes, b.fresh("y"));
      }
    });
  };
  EXPECT_EQ(last_of({0, UINT32_MAX}), "");
  EXPECT_NE(last_of({-1}).find("'stream' = -1 must be a whole number of 32 bits"), std::string::npos);
  EXPECT_NE(last_of({INT64_MAX}).find("must be a whole number of 32 bits"), std::string::npos);
  // None is left behind the largest.
  EXPECT_NE(last_of({UINT32_MAX, {}}).find("'stream' = 4294967296 must be a whole number of 32 bits"),
            std::string::npos);
}

TEST(Builder, RefusesMissingInputs) {
  EXPECT_EQ(error_of([](Builder &b) { b.add("Add", {b.input("x", ElementType::kFp32, {2})}, {}, "y"); }),
            "net.graph:3: op 'y' (Add): input 'b' is missing");
}

TEST(Verify, FindsOpsOutOfOrder) {
  Graph graph;
  Builder builder(graph, operators());
  const TensorId a = builder.add("Relu", {builder.input("x", ElementType::kFp32, {2})}, {}, "a");
  builder.add("Relu", {a}, {}, "b");
  std::swap(graph.ops[0], graph.ops[1]);
  std::swap(graph.tensors[graph.find("a")].producer, graph.tensors[graph.find("b")].producer);
  try {
    verify(graph);
    FAIL() << "passed";
  } catch (const GraphError &error) {
    EXPECT_EQ(std::string(error.what()),
              "op 'b' (Relu): reads 'a', which is computed by op 'a' (Relu) behind it: a cycle, or ops out of order");
  }
}

} // namespace
} // namespace gradweave::graph
