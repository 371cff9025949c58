// Layers that are several operators: their values by plain formulas, their gradients by differences.
#include "graph/compose/attention.hpp"
#include "graph/compose/interactions.hpp"
#include "graph/compose/lstm.hpp"
#include "tests/graph/operators/operator_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

Build lstm(std::uint32_t steps, std::uint32_t batch, std::uint32_t features, std::uint32_t hidden) {
  return [=](Builder &b) {
    const LstmWeights weights{b.parameter("w", {features, 4 * hidden}, "zeros"),
                              b.parameter("u", {hidden, 4 * hidden}, "zeros"), b.parameter("b", {4 * hidden}, "zeros")};
    const LstmState first{b.parameter("h", {batch, hidden}, "zeros"), b.parameter("c", {batch, hidden}, "zeros")};
    return add_lstm(b, b.parameter("x", {steps, batch, features}, "zeros"), weights, first, "lstm").outputs;
  };
}

Build attention(std::uint32_t heads, bool causal) {
  return [=](Builder &b) {
    AttentionInputs inputs;
    for (auto [id, name] : {std::pair{&inputs.q, "q"}, std::pair{&inputs.k, "k"}, std::pair{&inputs.v, "v"}})
      *id = b.parameter(name, {2, 3, 4}, "zeros");
    if (causal) inputs.mask = add_causal_mask(b, 3, "mask");
    return add_attention(b, inputs, heads, "attention");
  };
}

Build interactions(const Shape &x) {
  return [=](Builder &b) { return add_interactions(b, b.parameter("x", x, "zeros"), "pairs"); };
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Lstm, GradientIsThatOfDifferences) { EXPECT_LT(gradient_error(lstm(3, 2, 3, 2)), 1e-8); }

TEST(Lstm, StepsAreTheFormulas) {
  // One feature and one hidden element; gates i, f, g, o.
  const double w[4] = {0.5, -0.25, 1, 0.75}, u[4] = {-0.5, 1, 0.25, 0.5}, bias[4] = {0, 0.5, -0.5, 0.25};
  const auto y = run_contract(lstm(2, 1, 1, 1), {{"w", {0.5F, -0.25F, 1, 0.75F}},
                                                 {"u", {-0.5F, 1, 0.25F, 0.5F}},
                                                 {"b", {0, 0.5F, -0.5F, 0.25F}},
                                                 {"x", {1, -2}},
                                                 {"h", {0.5F}},
                                                 {"c", {-1}}});
  double h = 0.5, c = -1;
  for (int t = 0; t < 2; ++t) {
    double gates[4];
    for (int g = 0; g < 4; ++g)
      gates[g] = (t == 0 ? 1.0 : -2.0) * w[g] + h * u[g] + bias[g];
    c = sigmoid(gates[1]) * c + sigmoid(gates[0]) * std::tanh(gates[2]);
    h = sigmoid(gates[3]) * std::tanh(c);
    EXPECT_NEAR(y[static_cast<std::size_t>(t)], h, 0.02); // the recurrent product takes h in bf16
  }
}

TEST(Attention, GradientIsThatOfDifferences) {
  EXPECT_LT(gradient_error(attention(2, false)), 1e-8);
  EXPECT_LT(gradient_error(attention(1, true)), 1e-8);
}

TEST(Attention, FirstPositionSeesItselfAloneUnderTheCausalMask) {
  std::vector<float> values(24);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  const auto y = run_contract(attention(2, true), {{"q", values}, {"k", values}, {"v", values}});
  EXPECT_EQ(std::vector<float>(y.begin(), y.begin() + 4), (std::vector<float>{0, 1, 2, 3}));
}

TEST(Interactions, GradientIsThatOfDifferences) { EXPECT_LT(gradient_error(interactions({2, 4, 3})), 1e-8); }

TEST(Interactions, AreProductsOfEachPairOnce) {
  const auto y = run_contract(interactions({1, 3, 2}), {{"x", {1, 2, 3, 4, 5, 6}}});
  EXPECT_EQ(y, (std::vector<float>{11, 17, 39})); // (1, 0), (2, 0), (2, 1)
}

TEST(Compose, RefusesShapesThatDoNotFit) {
  const auto error = [](const Build &build) {
    return build_error([&](Builder &b) {
      b.at("net.graph:7");
      return build(b);
    });
  };
  EXPECT_EQ(error(attention(3, false)),
            "net.graph:7: 'q' is [2, 3, 4]; attention of 3 heads takes [batch, positions, a multiple of 3]");
  EXPECT_EQ(error(interactions({2, 1, 3})),
            "net.graph:7: 'x' is [2, 1, 3]; interactions are those of [batch, two features or more, d]");
}

} // namespace
} // namespace gradweave::graph
