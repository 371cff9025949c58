// Graphs as text: printed and read back, and what written files may say.
#include "graph/operators/table.hpp"
#include "graph/passes/edges.hpp"
#include "graph/text/print.hpp"
#include "graph/text/read.hpp"
#include "tests/graph/same_graph.hpp"

#include "graph/build/builder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

namespace gradweave::graph {
namespace {

Graph read(const std::string &text, const Variables &variables = {}) {
  return read_graph(text, "net.graph", operators(), variables);
}

/// A graph of products, sums and activations at random, with names of all kinds.
class RandomGraph {
public:
  explicit RandomGraph(unsigned seed) : random_(seed) {}

  Graph make() {
    graph_.name = text();
    graph_.description = below(2) == 0 ? "" : text();
    if (below(2) == 0) graph_.published = below(1000);
    for (unsigned step = 0; step < 4 + below(20); ++step)
      add();
    for (unsigned i = 0; i < below(3); ++i)
      graph_.results.push_back(any());
    for (Tensor &tensor : graph_.tensors) {
      tensor.boundary = below(8) == 0;
      tensor.head = tensor.role == Role::kParameter && below(3) == 0;
      if (tensor.computed() && below(4) == 0) tensor.fixed_type = true;
    }
    for (Op &op : graph_.ops)
      op.recompute = below(5) == 0;
    const TensorId state = build_.state(name(), {rows_, 8}, below(2) == 0 ? "" : "zeros");
    build_.set_role(Role::kUpdated);
    const TensorId next = build_.add("Add", {state, state}, {}, name());
    build_.fix_type(next, ElementType::kFp32);
    build_.update(state, next);
    graph_.loss = build_.constant(name(), {}, {-0.5});
    return graph_;
  }

private:
  std::uint32_t below(std::uint32_t n) { return std::uniform_int_distribution<std::uint32_t>(0, n - 1)(random_); }

  std::string text() {
    static const std::string kCharacters = "ab\"'\\\n\t# {}=\x01\x7f";
    std::string result(1 + below(6), 'x');
    for (char &c : result)
      c = kCharacters[below(static_cast<std::uint32_t>(kCharacters.size()))];
    return result;
  }

  std::string name() {
    static const std::vector<std::string> kStems = {"fc",   "3a.conv", "d(x)", "7", "1e5",
                                                    "loss", "a..b",    "inf",  "_", "1e"};
    const std::string stem = below(4) == 0 ? text() : kStems[below(static_cast<std::uint32_t>(kStems.size()))];
    return build_.fresh(stem);
  }

  TensorId any() { return matrices_[below(static_cast<std::uint32_t>(matrices_.size()))]; }

  void add() {
    const std::uint32_t kind = matrices_.empty() ? 0 : below(6);
    if (kind == 0)
      matrices_.push_back(build_.input(name(), below(2) == 0 ? ElementType::kBf16 : ElementType::kFp32, {rows_, 8}));
    if (kind == 1) matrices_.push_back(build_.add("Relu", {any()}, {}, below(2) == 0 ? "" : name()));
    if (kind == 2) matrices_.push_back(build_.add("Add", {any(), any()}, {}, name()));
    if (kind == 3)
      matrices_.push_back(
          build_.add("Gemm", {any(), build_.parameter(name(), {8, 8}, text(), below(3) == 0)}, {}, name()));
    if (kind == 4)
      matrices_.push_back(
          build_.constant(name(), {rows_, 8}, std::vector<double>(below(2) == 0 ? 1 : rows_ * 8, 1.0 / 3)));
    if (kind == 5) {
      const TensorId renamed = build_.add("Relu", {any()}, {}, name());
      build_.rename(renamed, name());
      matrices_.push_back(renamed);
    }
  }

  std::mt19937 random_;
  Graph graph_;
  Builder build_{graph_, operators()};
  std::uint32_t rows_ = 1 + below(5);
  std::vector<TensorId> matrices_;
};

TEST(GraphText, WhatIsPrintedIsReadBackEqual) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Graph graph = RandomGraph(seed).make();
    const std::string text = print_graph(graph);
    const Graph back = read_graph(text, "net.graph", operators());
    ASSERT_EQ(difference(graph, back), "") << "seed " << seed << "\n" << text;
    ASSERT_EQ(print_graph(back), text) << "seed " << seed;
  }
}

TEST(GraphText, WhatPassesLeaveIsReadBackWithNumbersInOrder) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Graph graph = RandomGraph(seed).make();
    assign_edges(graph, operators());
    const std::string text = print_graph(graph);
    const Graph back = read_graph(text, "net.graph", operators());
    ASSERT_EQ(print_graph(back), text) << "seed " << seed;
    ASSERT_EQ(back.ops.size(), graph.ops.size());
    for (const Tensor &tensor : graph.tensors) {
      const TensorId id = back.find(tensor.name);
      ASSERT_NE(id, kNone) << tensor.name;
      EXPECT_EQ(back.tensors[id].type, tensor.type) << tensor.name;
    }
  }
}

/// The comparison above sees what it is to see.
TEST(GraphText, ADifferenceIsSeen) {
  const Graph graph = read("input x bf16 [2, 8]\ny = Relu(x)\nresult y\n");
  Graph other = graph;
  other.ops[0].recompute = true;
  EXPECT_NE(difference(graph, other), "");
  other = graph;
  other.tensors[1].fixed_type = true;
  EXPECT_NE(difference(graph, other), "");
}

TEST(GraphText, VariablesBlocksAndLoops) {
  const Graph graph = read(R"(
graph "perceptron"
let batch = 2
let width = 8 * 2 - 12 / 3     # 12
block linear(x, out)
  parameter weight [dim(x, -1), out] init "zeros"
  y = Gemm(x, weight)
  return y
end
block layer(x)
  inner = linear(x, dim(x, 1))
  y = Relu(inner)
  return y
end
input h0 bf16 [batch, width]
for i in 0..2
  h{i + 1} = layer(h{i}) as encoder{i}
end
logits = linear(h3, 10)
result logits, h1
)",
                           {{"batch", 6}});
  EXPECT_EQ(graph.name, "perceptron");
  EXPECT_EQ(graph.tensors[graph.find("h0")].shape, (Shape{6, 12}));
  EXPECT_EQ(graph.tensors[graph.find("encoder2.inner.weight")].shape, (Shape{12, 12}));
  EXPECT_EQ(graph.tensors[graph.find("logits.weight")].shape, (Shape{12, 10}));
  EXPECT_EQ(graph.tensors[graph.find("logits")].shape, (Shape{6, 10}));
  EXPECT_EQ(graph.results, (std::vector<TensorId>{graph.find("logits"), graph.find("h1")}));
  EXPECT_EQ(graph.ops.size(), 7U);
  EXPECT_EQ(graph.tensors[graph.find("encoder1.inner")].where, "net.graph:7");
}

TEST(GraphText, ListsAndNumbers) {
  const Graph graph = read(R"(
constant pairs int32 [6] = [10 * i + j for i in 1..3 for j in 0..i - 1]
constant edges fp32 [4] = [sqrt(16.0), max(2, 1.5), -(3 > 2) % 5, min(abs(-7), 9)]
)");
  EXPECT_EQ(graph.tensors[graph.find("pairs")].values, (std::vector<double>{10, 20, 21, 30, 31, 32}));
  EXPECT_EQ(graph.tensors[graph.find("edges")].values, (std::vector<double>{4, 2, -1, 7}));
}

/// models/README.md has it: the first block of lines that are indented.
TEST(GraphText, TheExampleOfTheFormatIsOne) {
  std::ifstream page("models/README.md");
  std::string example;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "## `.graph`") inside = true;
    const bool code = line.substr(0, 4) == "    ";
    if (inside && code) example += line.substr(4) + "\n";
    if (inside && !code && !example.empty()) break;
  }
  const Graph graph = read(example, {{"batch", 2}});
  EXPECT_EQ(graph.published, count_parameters(graph));
  EXPECT_EQ(graph.updates.size(), 1U);
  EXPECT_EQ(graph.tensors[graph.loss].name, "cross_entropy");
}

} // namespace
} // namespace gradweave::graph
