// What fresh parameters hold.
#include "graph/golden/initialise.hpp"
#include "graph/ir/error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gradweave::graph {
namespace {

Tensor tensor_of(const std::string &initial, Shape shape = {300, 200}, const std::string &name = "w") {
  Tensor tensor;
  tensor.name = name;
  tensor.shape = std::move(shape);
  tensor.role = Role::kParameter;
  tensor.initial = initial;
  return tensor;
}

double deviation(const std::vector<float> &values) {
  double squares = 0;
  for (const float v : values)
    squares += double(v) * v;
  return std::sqrt(squares / double(values.size()));
}

double largest(const std::vector<float> &values) {
  double most = 0;
  for (const float v : values)
    most = std::max(most, std::abs(double(v)));
  return most;
}

TEST(Initialise, FormsHaveTheSpreadThatTheyPromise) {
  // Of 60,000 elements: a standard deviation within 2 %, and a mean within 2 % of it.
  const std::pair<const char *, double> forms[] = {{"normal:0.02", 0.02},
                                                   {"uniform:0.3", 0.3 / std::sqrt(3)},
                                                   {"xavier", std::sqrt(2.0 / 500)},
                                                   {"kaiming", std::sqrt(2.0 / 300)},
                                                   {"xavier_normal", std::sqrt(2.0 / 500)},
                                                   {"kaiming_uniform", std::sqrt(2.0 / 300)},
                                                   {"lecun", std::sqrt(1.0 / 300)},
                                                   {"lecun_uniform", std::sqrt(1.0 / 300)}};
  for (const auto &[form, sigma] : forms) {
    const std::vector<float> values = initial_values(tensor_of(form), 1);
    ASSERT_EQ(values.size(), 60000U);
    EXPECT_NEAR(deviation(values) / sigma, 1, 0.02) << form;
    EXPECT_LT(std::abs(std::accumulate(values.begin(), values.end(), 0.0)) / 60000 / sigma, 0.02) << form;
    const bool bell = std::string(form).find("uniform") == std::string::npos && std::string(form) != "xavier";
    EXPECT_GT(largest(values) / sigma, bell ? 3.5 : 1.7) << form;
    EXPECT_LT(largest(values) / sigma, bell ? 6.0 : 1.75) << form;
  }
}

TEST(Initialise, ConstantsAreTheSameEverywhere) {
  EXPECT_EQ(initial_values(tensor_of("zeros", {3}), 1), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(initial_values(tensor_of("ones", {2}), 1), (std::vector<float>{1, 1}));
  EXPECT_EQ(initial_values(tensor_of("constant:-0.25", {2}), 1), (std::vector<float>{-0.25F, -0.25F}));
}

TEST(Initialise, FansOfAConvolutionCountItsTaps) {
  const std::vector<float> values = initial_values(tensor_of("kaiming", {2, 5, 5, 8, 100}), 1);
  EXPECT_NEAR(deviation(values) / std::sqrt(2.0 / 200), 1, 0.02);
}

TEST(Initialise, DependsOnSeedAndNameAlone) {
  const std::vector<float> values = initial_values(tensor_of("normal:1"), 1);
  EXPECT_EQ(values, initial_values(tensor_of("normal:1"), 1));
  EXPECT_NE(values, initial_values(tensor_of("normal:1"), 2));
  EXPECT_NE(values, initial_values(tensor_of("normal:1", {300, 200}, "v"), 1));
}

/// The bits that a network is made of on every machine.
TEST(Initialise, BitsAreKept) {
  const std::vector<float> bell = initial_values(tensor_of("normal:1", {3}), 7);
  const std::vector<float> even = initial_values(tensor_of("uniform:1", {3}), 7);
  EXPECT_EQ(fmt::format("{:a} {:a} {:a}", bell[0], bell[1], bell[2]), "0x1.6a28p-3 -0x1.232bp+0 -0x1.8171p+0");
  EXPECT_EQ(fmt::format("{:a} {:a} {:a}", even[0], even[1], even[2]), "-0x1.c57662p-1 -0x1.a73b36p-2 0x1.23df64p-1");
}

TEST(Initialise, WhatIsNotKnownIsAnErrorThatNamesTheTensor) {
  for (const char *initial : {"", "normal", "normal:", "normal:x", "normal:-1", "normal:0.1x", "zeros:1", "magic",
                              "constant:inf", "uniform:nan"}) {
    try {
      initial_values(tensor_of(initial), 1);
      ADD_FAILURE() << initial;
    } catch (const GraphError &error) {
      EXPECT_NE(std::string(error.what()).find("tensor 'w'"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("kaiming_uniform"), std::string::npos) << error.what();
    }
  }
}

} // namespace
} // namespace gradweave::graph
