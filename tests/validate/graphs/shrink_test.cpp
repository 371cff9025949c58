// The smallest graph that fails in the same way, of faults that are seeded here.
#include "app/validate/graphs/shrink.hpp"
#include "graph/operators/table.hpp"
#include "graph/text/print.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace gradweave::graphs {
namespace {

bool has_op(const graph::Graph &graph, std::string_view type) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [&](const graph::Op &op) { return op.type->name == type; });
}

/// The first case of many operators in which the fault shows.
GraphCase first_failing(const RunCase &run) {
  CaseOptions options;
  options.most = 16;
  for (std::uint64_t seed = 1;; ++seed) {
    GraphCase one = draw_case(seed, options);
    if (one.network.ops.size() > 8 && run(one).outcome != Outcome::kOk) return one;
  }
}

Shrunk shrunk_of(const RunCase &run) {
  const GraphCase failing = first_failing(run);
  return shrink(failing, run(failing), run);
}

TEST(Shrink, OneOperatorIsLeft) {
  for (const char *type : {"Softmax", "Conv", "Concat", "LayerNormalization", "Gather"}) {
    const Shrunk shrunk = shrunk_of([type](const GraphCase &one) {
      return has_op(one.network, type) ? Verdict{Outcome::kWrong, "seeded"} : Verdict{};
    });
    EXPECT_TRUE(has_op(shrunk.graph_case.network, type));
    EXPECT_LE(shrunk.graph_case.network.ops.size(), 3U) << graph::print_graph(shrunk.graph_case.network);
    EXPECT_EQ(shrunk.graph_case.request.steps, 1U);
    EXPECT_TRUE(shrunk.graph_case.request.set.empty());
  }
}

/// A pair of operators in which one reads the other.
TEST(Shrink, WhatIsNeededStays) {
  const Shrunk shrunk = shrunk_of([](const GraphCase &one) {
    for (const graph::Op &op : one.network.ops)
      for (const graph::TensorId input : op.inputs)
        if (op.type->name == "Bias" && input != graph::kNone && one.network.tensors[input].computed() &&
            one.network.ops[one.network.tensors[input].producer].type->name == "Conv")
          return Verdict{Outcome::kLost, "seeded"};
    return Verdict{};
  });
  EXPECT_TRUE(has_op(shrunk.graph_case.network, "Conv"));
  EXPECT_LE(shrunk.graph_case.network.ops.size(), 3U) << graph::print_graph(shrunk.graph_case.network);
  for (const graph::Tensor &tensor : shrunk.graph_case.network.tensors)
    if (!tensor.computed()) EXPECT_LE(tensor.shape.elements(), 4U) << tensor.name;
}

/// Another outcome is another failure, however small its graph is.
TEST(Shrink, TheKindOfFailureStays) {
  const Shrunk shrunk = shrunk_of([](const GraphCase &one) {
    if (has_op(one.network, "Softmax")) return Verdict{Outcome::kNotCompiled, "a softmax"};
    return one.network.ops.size() < 5 ? Verdict{Outcome::kNotCompiled, "too few"} : Verdict{};
  });
  EXPECT_EQ(shrunk.verdict.message, "a softmax");
  EXPECT_TRUE(has_op(shrunk.graph_case.network, "Softmax"));
}

TEST(Shrink, EndsAfterSoManyRuns) {
  std::uint32_t runs = 0;
  const RunCase run = [&runs](const GraphCase &) {
    ++runs;
    return Verdict{Outcome::kWrong, ""};
  };
  CaseOptions options;
  options.most = 16;
  EXPECT_EQ(shrink(draw_case(3, options), {Outcome::kWrong, ""}, run, 7).runs, 7U);
  EXPECT_EQ(runs, 7U);
}

} // namespace
} // namespace gradweave::graphs
