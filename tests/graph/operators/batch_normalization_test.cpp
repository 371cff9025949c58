#include "operator_check.hpp"

#include "sw_models/functions/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

/// Output `o` of BatchNormalization in training.
Build batch_norm(const Shape &x, std::size_t o = 0, const Attributes &attributes = {}) {
  return [=](Builder &b) {
    const Shape channels{x.cols()};
    const TensorId in = b.parameter("x", x, "zeros");
    const TensorId gamma = b.parameter("gamma", channels, "ones"), beta = b.parameter("beta", channels, "zeros");
    const TensorId mean = b.state("mean", channels);
    return b.add_all("BatchNormalization", {in, gamma, beta, mean, b.state("variance", channels)}, attributes, "y")[o];
  };
}

Build batch_norm_gradient(const Shape &x, std::size_t o) {
  return [=](Builder &b) {
    const Shape channels{x.cols()};
    std::vector<TensorId> inputs{b.input("dy", ElementType::kFp32, x), b.input("x", ElementType::kFp32, x)};
    for (const char *name : {"gamma", "mean", "rstd"})
      inputs.push_back(b.input(name, ElementType::kFp32, channels));
    return b.add_all("BatchNormalizationGradient", inputs)[o];
  };
}

Build batch_norm_inference(const Shape &x) {
  return [=](Builder &b) {
    const Shape channels{x.cols()};
    const std::vector<TensorId> inputs{
        b.parameter("x", x, "zeros"), b.parameter("gamma", channels, "ones"), b.parameter("beta", channels, "zeros"),
        b.input("mean", ElementType::kFp32, channels), b.input("variance", ElementType::kFp32, channels)};
    return b.add("BatchNormalizationInference", inputs, {}, "y");
  };
}

/// Of values at(row): parts of 1,024 rows, each a chain from +0 of step(row, accumulator); the parts ascending.
template <typename Step> float in_parts(std::size_t rows, Step step) {
  float total = 0;
  for (std::size_t first = 0; first < rows; first += 1024) {
    float part = 0;
    for (std::size_t row = first; row < std::min(rows, first + 1024); ++row)
      part = step(row, part);
    total = first == 0 ? part : total + part;
  }
  return total;
}

struct Statistics {
  float mean, squares, rstd;
};

Statistics statistics(const std::vector<float> &x, std::size_t channels, std::size_t c) {
  const std::size_t rows = x.size() / channels;
  const float part = 1.0F / static_cast<float>(rows);
  const auto at = [&](std::size_t row) { return x[row * channels + c]; };
  const float mean = in_parts(rows, [&](std::size_t row, float acc) { return acc + at(row); }) * part;
  const float squares =
      in_parts(rows, [&](std::size_t row, float acc) { return std::fma(at(row) - mean, at(row) - mean, acc); });
  return {mean, squares, functions::rsqrt(squares * part + 1e-5F)};
}

/// A second implementation, channel by channel, of output `o`.
std::vector<float> normalized(const Given &given, std::size_t o) {
  const std::vector<float> &x = given.real.at("x"), &gamma = given.real.at("gamma"), &beta = given.real.at("beta");
  const std::size_t channels = gamma.size(), rows = x.size() / channels;
  std::vector<float> out(o == 0 ? x.size() : channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const Statistics s = statistics(x, channels, c);
    if (o == 0)
      for (std::size_t row = 0; row < rows; ++row)
        out[row * channels + c] = std::fma((x[row * channels + c] - s.mean) * s.rstd, gamma[c], beta[c]);
    else if (o == 1)
      out[c] = s.mean;
    else if (o == 2)
      out[c] = s.rstd;
    else if (o == 3)
      out[c] = std::fma(0.1F, s.mean, (1 - 0.1F) * given.real.at("mean")[c]);
    else
      out[c] =
          std::fma(0.1F, s.squares * (1.0F / static_cast<float>(rows - 1)), (1 - 0.1F) * given.real.at("variance")[c]);
  }
  return out;
}

std::vector<float> gradients(const Given &given, std::size_t o) {
  const std::vector<float> &dy = given.real.at("dy"), &x = given.real.at("x");
  const std::size_t channels = given.real.at("gamma").size(), rows = x.size() / channels;
  const float part = 1.0F / static_cast<float>(rows);
  std::vector<float> out(o == 0 ? x.size() : channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const float gamma = given.real.at("gamma")[c], mean = given.real.at("mean")[c], rstd = given.real.at("rstd")[c];
    const auto normal = [&](std::size_t row) { return (x[row * channels + c] - mean) * rstd; };
    const float dbeta = in_parts(rows, [&](std::size_t row, float acc) { return acc + dy[row * channels + c]; });
    const float dgamma =
        in_parts(rows, [&](std::size_t row, float acc) { return std::fma(dy[row * channels + c], normal(row), acc); });
    if (o == 1) out[c] = dgamma;
    if (o == 2) out[c] = dbeta;
    for (std::size_t row = 0; o == 0 && row < rows; ++row)
      out[row * channels + c] =
          std::fma(-normal(row), dgamma * part, dy[row * channels + c] - dbeta * part) * (gamma * rstd);
  }
  return out;
}

std::vector<float> inferred(const Given &given) {
  const std::vector<float> &x = given.real.at("x"), &gamma = given.real.at("gamma");
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % gamma.size();
    const float rstd = functions::rsqrt(given.real.at("variance")[c] + 1e-5F);
    y[i] = std::fma((x[i] - given.real.at("mean")[c]) * rstd, gamma[c], given.real.at("beta")[c]);
  }
  return y;
}

std::vector<Check> training_checks() {
  std::vector<Check> checks{derivative(batch_norm({2, 3, 2, 3})), derivative(batch_norm({5, 1}))};
  for (std::size_t o = 0; o < 5; ++o) {
    checks.push_back(near_fp64(batch_norm({3, 4, 5}, o), {1, 0.1, 2}, 1e-5));
    for (const std::uint32_t rows : {7U, 1024U, 2500U}) // one part, a whole one, several
      checks.push_back(
          replayed(batch_norm({rows, 3}, o), {rows}, [o](const Given &given) { return normalized(given, o); }));
  }
  return checks;
}

std::vector<Check> gradient_checks() {
  std::vector<Check> checks;
  for (std::size_t o = 0; o < 3; ++o) {
    checks.push_back(near_fp64(batch_norm_gradient({3, 4, 5}, o), {}, 1e-5));
    for (const std::uint32_t rows : {7U, 2500U})
      checks.push_back(
          replayed(batch_norm_gradient({rows, 3}, o), {rows}, [o](const Given &given) { return gradients(given, o); }));
  }
  return checks;
}

const Holds training_holds({"BatchNormalization"}, training_checks());
const Holds batch_norm_gradient_holds({"BatchNormalizationGradient"}, gradient_checks());
const Holds inference_holds({"BatchNormalizationInference"},
                            {near_fp64(batch_norm_inference({3, 4, 5}), {3, 0.1, 2}, 1e-5),
                             derivative(batch_norm_inference({2, 3, 4}), {4, 0.5, 2}),
                             replayed(batch_norm_inference({7, 3}), {3, 0.1, 2}, inferred)});

TEST(BatchNormalization, ChannelOfNoVarianceGivesBeta) {
  const RealValues given{{"x", {3, 3, 3}}, {"gamma", {7}}, {"beta", {0.5F}}, {"mean", {1}}, {"variance", {1}}};
  EXPECT_EQ(run_contract(batch_norm({3, 1}), given), (std::vector<float>{0.5F, 0.5F, 0.5F}));
  EXPECT_EQ(run_contract(batch_norm({3, 1}, 2), given), std::vector<float>{functions::rsqrt(1e-5F)});
  // Without an epsilon there is nothing to divide by: 0 times infinity.
  const auto y = run_contract(batch_norm({3, 1}, 0, {{"epsilon", 0.0}}), given);
  EXPECT_TRUE(std::isnan(y[0]));
}

TEST(BatchNormalization, OneRowIsItsOwnMeanAndHasNoVariance) {
  const RealValues given{{"x", {3, -4}}, {"gamma", {7, 7}}, {"beta", {1, 2}}, {"mean", {0, 0}}, {"variance", {1, 1}}};
  EXPECT_EQ(run_contract(batch_norm({1, 2}), given), (std::vector<float>{1, 2}));
  EXPECT_EQ(run_contract(batch_norm({1, 2}, 1), given), (std::vector<float>{3, -4}));
  EXPECT_EQ(run_contract(batch_norm({1, 2}, 4), given), (std::vector<float>{1 - 0.1F, 1 - 0.1F}));
}

TEST(BatchNormalization, InfinityMakesItsChannelNanAndNoOther) {
  const RealValues given{{"x", {INFINITY, 1, 2, 3}}, {"gamma", {1, 1}}, {"beta", {0, 0}}};
  const auto y = run_contract(batch_norm({2, 2}), given);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_LT(y[1], 0);
  EXPECT_GT(y[3], 0);
}

std::string norm_error(const Shape &x, const Shape &gamma, const Attributes &attributes) {
  return build_error([&](Builder &b) {
    b.at("net.graph:7");
    std::vector<TensorId> inputs{b.parameter("x", x, "zeros"), b.parameter("g", gamma, "ones")};
    for (const char *name : {"b", "m", "v"})
      inputs.push_back(b.parameter(name, {x.cols()}, "zeros"));
    return b.add("BatchNormalization", inputs, attributes, "y");
  });
}

TEST(BatchNormalization, RefusesWhatDoesNotFit) {
  const std::string where = "net.graph:7: op 'y' (BatchNormalization): ";
  EXPECT_EQ(norm_error({5}, {5}, {}), where + "x is [5]; it needs rows and channels");
  EXPECT_EQ(norm_error({2, 5}, {4}, {}),
            where + "x is [2, 5] and gamma [4]; it must be [5], an element for each channel");
  EXPECT_EQ(norm_error({2, 5}, {5}, {{"epsilon", -1.0}}), where + "attribute 'epsilon' = -1.0 must be at least 0");
  EXPECT_EQ(norm_error({2, 5}, {5}, {{"momentum", 1.5}}), where + "attribute 'momentum' = 1.5 must be from 0 to 1");
}

TEST(BatchNormalization, RefusesALossFromItsStatistics) {
  const auto gradient = [] { return gradient_error(batch_norm({4, 2}, 1)); };
  EXPECT_THROW(gradient(), GraphError);
}

} // namespace
} // namespace gradweave::graph
