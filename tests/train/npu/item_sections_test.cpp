// Groups of products and operators that go item by item: which there are, that steps with them are golden, and what
// they take.
#include "sw_models/timing/timing_model.hpp"
#include "tests/train/npu/npu_steps.hpp"
#include "train/npu/check_stream.hpp"
#include "train/npu/item_sections.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave::runtime::train {
namespace {

/// Products of a batch of 5 with operators between them.
graph::Graph between_products(const std::string &operators) {
  const std::string text = fmt::format(R"(graph "items"
description "products of a batch with operators between them"
input x fp32 [5, 9, 6]
input mask fp32 [9, 9]
input labels int32 [5]
parameter left [6, 7] init "normal:0.5"
parameter right [6, 7] init "normal:0.5"
parameter gamma [9] init "ones"
parameter beta [9] init "zeros"
parameter classes [63, 3] init "normal:0.2"
a = MatMul(x, left)
b = MatMul(x, right)
scores = MatMul(a, b) trans_b=1
{}
y = MatMul(between, b)
flat = Reshape(y) shape=[5, 63]
logits = Gemm(flat, classes)
cross_entropy = SoftmaxCrossEntropy(logits, labels)
result logits
loss cross_entropy
)",
                                       operators);
  return graph::read_graph(text, "items.graph", graph::operators(), {});
}

std::size_t sections_with(const StepStream &stream, const std::string &name) {
  return static_cast<std::size_t>(std::count_if(stream.sections.begin(), stream.sections.end(),
                                                [&](const auto &s) { return s.what.find(name) != std::string::npos; }));
}

/// Two steps on the functional model; how many groups there were.
std::size_t groups_of_golden(const graph::Graph &network, const char *npu, bool keep_all = false) {
  NpuSteps steps(network, {}, make_functional_device(npu_of(npu)), Backend::kFunctional, keep_all);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(steps.next(), "") << npu << ", step " << i;
  return sections_with(steps.executor.stream(), "MatMul + ");
}

TEST(ItemSections, AttentionIsGolden) {
  for (const char *npu : {"test8v2", "test6x10v1", "test8c2v8"}) {
    EXPECT_EQ(groups_of_golden(small_bert(), npu), 2U) << npu;
    EXPECT_EQ(groups_of_golden(small_gpt(), npu), 4U) << npu;
  }
}

/// Elements, rows with and without parameters, masks of an item: whatever stands between two products.
TEST(ItemSections, AnyLocalOperatorIsGolden) {
  for (const char *operators :
       {"between = Relu(scores)", "between = MatMul(scores, scores)",
        "active = Tanh(scores)\nbetween = Mul(active, scores)", "masked = Add(scores, mask)\nbetween = Tanh(masked)",
        "p = Softmax(scores, mask) scale=0.5\nbetween = Relu(p)",
        "between, mean, rstd = LayerNormalization(scores, gamma, beta)"}) {
    SCOPED_TRACE(operators);
    EXPECT_GT(groups_of_golden(between_products(operators), "test8v2"), 0U);
  }
}

TEST(ItemSections, WhatStaysInsideMayBeKept) { EXPECT_EQ(groups_of_golden(small_gpt(), "test8v2", true), 4U); }

/// Nothing of a group is staged, and scores, their gradient and that of P stay inside.
TEST(ItemSections, ScoresReachNoMemory) {
  NpuSteps steps(small_bert(), {}, make_functional_device(npu_of("test8v2")), Backend::kFunctional);
  ASSERT_EQ(steps.next(), "");
  EXPECT_EQ(sections_with(steps.executor.stream(), "MatMul staging"), 0U);
  const graph::Graph &graph = steps.step.graph;
  std::size_t inside = 0;
  for (graph::TensorId id = 0; id < graph.tensors.size(); ++id)
    if (graph.tensors[id].shape == graph::Shape{2, 3, 9, 9} &&
        steps.executor.planned().memory().places[id].owner == graph::kNone)
      ++inside;
  EXPECT_EQ(inside, 3U);
}

/// An item that the scratchpad does not hold goes as its products and operators do.
TEST(ItemSections, ItemsThatDoNotFitGoAlone) {
  EXPECT_EQ(groups_of_golden(small_gpt(40), "test8v2"), 0U);
  EXPECT_GT(groups_of_golden(small_gpt(17), "test8v2"), 0U);
}

/// The cycles of all groups of a whole step, each apart from all else.
std::uint64_t cycles_of_groups(const graph::Graph &forward, const Machine &npu) {
  const graph::TrainingGraph step = graph::training_graph(forward, graph::operators(), {});
  const ProductPlan products = plan_device_products(step.graph, npu);
  const Views views = find_views(step.graph, products);
  ItemSections items(step.graph, npu, {}, 20);
  const StepOrder order = order_step(step.graph, products, views, items.groups());
  const StepMemory memory = plan_memory({step.graph, order, views, {}, false});
  std::uint64_t cycles = 0;
  for (std::size_t group = 0; group < items.groups().size(); ++group) {
    const timing::RunResult run = timing::run(npu, items.commands(group, step.graph, memory));
    EXPECT_TRUE(run.ok());
    cycles += run.cycles();
  }
  return cycles;
}

TEST(ItemSectionsOnSmall, AttentionTakesFewCycles) {
  const Machine npu = npu_of("small");
  EXPECT_LT(cycles_of_groups(compiler::load_graph("models/bert_tiny.graph", 4), npu), 1'400'000U);
  EXPECT_LT(cycles_of_groups(compiler::load_graph("models/gpt_char.graph", 8), npu), 180'000U);
}

} // namespace
} // namespace gradweave::runtime::train
