#include "operator_check.hpp"

#include "sw_models/functions/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

constexpr std::size_t kCols = 33;
const Shape kX{7, kCols}, kOfRow{7}, kOfColumn{kCols};

std::vector<float> layer_normalized(const Given &given) {
  std::vector<float> y = given.real.at("x");
  for (std::size_t row = 0; row < y.size(); row += kCols) {
    float sum = 0, squares = 0;
    for (std::size_t i = row; i < row + kCols; ++i)
      sum += y[i];
    const float mean = sum * (1.0F / kCols);
    for (std::size_t i = row; i < row + kCols; ++i)
      squares = std::fmaf(y[i] - mean, y[i] - mean, squares);
    const float rstd = functions::rsqrt(squares * (1.0F / kCols) + 1e-5F);
    for (std::size_t i = row; i < row + kCols; ++i)
      y[i] = std::fmaf((y[i] - mean) * rstd, given.real.at("gamma")[i - row], given.real.at("beta")[i - row]);
  }
  return y;
}

/// Of both norms; that by the root mean square has no mean.
std::vector<float> normalized_gradient(const Given &given, bool with_mean) {
  const std::vector<float> &x = given.real.at("x"), &gamma = given.real.at("gamma");
  std::vector<float> dx(x.size());
  for (std::size_t row = 0; row < x.size(); row += kCols) {
    const float mean = with_mean ? given.real.at("mean")[row / kCols] : 0, rstd = given.real.at("rstd")[row / kCols];
    float sum = 0, product = 0;
    for (std::size_t i = 0; i < kCols; ++i) {
      const float g = given.real.at("dy")[row + i] * gamma[i];
      sum += g;
      product = std::fmaf(g, (x[row + i] - mean) * rstd, product);
    }
    for (std::size_t i = 0; i < kCols; ++i) {
      const float g = given.real.at("dy")[row + i] * gamma[i];
      const float centred = with_mean ? g - sum * (1.0F / kCols) : g;
      dx[row + i] = std::fmaf(-((x[row + i] - mean) * rstd), product * (1.0F / kCols), centred) * rstd;
    }
  }
  return dx;
}

std::vector<float> scale_gradient(const Given &given, bool with_mean) {
  const std::vector<float> &x = given.real.at("x"), &dy = given.real.at("dy");
  std::vector<float> sums(kCols);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float mean = with_mean ? given.real.at("mean")[i / kCols] : 0;
    sums[i % kCols] = std::fmaf(dy[i], (x[i] - mean) * given.real.at("rstd")[i / kCols], sums[i % kCols]);
  }
  return sums;
}

std::vector<float> rms_normalized(const Given &given) {
  std::vector<float> y = given.real.at("x");
  for (std::size_t row = 0; row < y.size(); row += kCols) {
    float squares = 0;
    for (std::size_t i = row; i < row + kCols; ++i)
      squares = std::fmaf(y[i], y[i], squares);
    const float rstd = functions::rsqrt(squares * (1.0F / kCols) + 1e-5F);
    for (std::size_t i = row; i < row + kCols; ++i)
      y[i] = y[i] * rstd * given.real.at("gamma")[i - row];
  }
  return y;
}

const std::vector<std::optional<Shape>> kLayer{kX, kOfColumn, kOfColumn}, kRms{kX, kOfColumn},
    kLayerGradient{kX, kX, kOfRow, kOfRow, kOfColumn}, kLayerScale{kX, kX, kOfRow, kOfRow},
    kRmsGradient{kX, kX, kOfRow, kOfColumn}, kRmsScale{kX, kX, kOfRow};

/// x = (1, 3): mean 2, variance 1; epsilon 3 makes the root 2.
const Attributes kThree{{"epsilon", 3.0}};
const Given kTwo{{{"x", {1, 3}}, {"gamma", {2, 4}}, {"beta", {10, 20}}}};
const std::vector<std::optional<Shape>> kOneRow{Shape{1, 2}, Shape{2}, Shape{2}},
    kManyRows{Shape{3, 5}, Shape{5}, Shape{5}};

const Holds layer_holds(
    {"LayerNormalization", "LayerNormalizationGradient", "LayerNormalizationScaleGradient"},
    {derivative(op_of("LayerNormalization", kManyRows)),
     derivative(op_of("LayerNormalization", {Shape{2, 2, 7}, Shape{7}, Shape{7}}), range(-2, 2, 1, 2)),
     derivative(op_of("LayerNormalization", {Shape{3}, Shape{3}, Shape{3}}, {{"epsilon", 0.1}})),
     near_fp64(op_of("LayerNormalization", kLayer)),
     near_fp64(op_of("LayerNormalization", kLayer), range(98, 102), 1e-5), // mean of 50 deviations
     near_fp64(op_of("LayerNormalization", kLayer, {}, 1)), near_fp64(op_of("LayerNormalization", kLayer, {}, 2)),
     near_fp64(op_of("LayerNormalizationGradient", kLayerGradient), range(0.5, 2)),
     near_fp64(op_of("LayerNormalizationScaleGradient", kLayerScale)),
     replayed(op_of("LayerNormalization", kLayer), {}, layer_normalized),
     replayed(op_of("LayerNormalizationGradient", kLayerGradient), {},
              [](const Given &given) { return normalized_gradient(given, true); }),
     replayed(op_of("LayerNormalizationScaleGradient", kLayerScale), {},
              [](const Given &given) { return scale_gradient(given, true); }),
     exact(op_of("LayerNormalization", kOneRow, kThree), kTwo, {9, 22}),
     exact(op_of("LayerNormalization", kOneRow, kThree, 1), kTwo, {2}),
     exact(op_of("LayerNormalization", kOneRow, kThree, 2), kTwo, {0.5F}),
     // A constant row is beta, whatever rstd is.
     exact(op_of("LayerNormalization", kOneRow), {{{"x", {7, 7}}, {"gamma", {2, 4}}, {"beta", {10, 20}}}}, {10, 20}),
     exact(op_of("LayerNormalization", kOneRow), {{{"x", {NAN, 7}}, {"gamma", {2, 4}}, {"beta", {10, 20}}}},
           {NAN, NAN})});

const Holds rms_holds({"RMSNormalization", "RMSNormalizationGradient", "RMSNormalizationScaleGradient"},
                      {derivative(op_of("RMSNormalization", {Shape{3, 5}, Shape{5}})),
                       derivative(op_of("RMSNormalization", {Shape{2, 2, 7}, Shape{7}}), range(-2, 2, 1, 2)),
                       derivative(op_of("RMSNormalization", {Shape{3}, Shape{3}})),
                       near_fp64(op_of("RMSNormalization", kRms)), near_fp64(op_of("RMSNormalization", kRms, {}, 1)),
                       near_fp64(op_of("RMSNormalizationGradient", kRmsGradient), range(0.5, 2)),
                       near_fp64(op_of("RMSNormalizationScaleGradient", kRmsScale)),
                       replayed(op_of("RMSNormalization", kRms), {}, rms_normalized),
                       replayed(op_of("RMSNormalizationGradient", kRmsGradient), {},
                                [](const Given &given) { return normalized_gradient(given, false); }),
                       replayed(op_of("RMSNormalizationScaleGradient", kRmsScale), {},
                                [](const Given &given) { return scale_gradient(given, false); }),
                       // Mean square 5, with epsilon 11 the root is 4.
                       exact(op_of("RMSNormalization", {Shape{1, 2}, Shape{2}}, {{"epsilon", 11.0}}),
                             {{{"x", {1, 3}}, {"gamma", {2, 4}}}}, {0.5F, 3}),
                       exact(op_of("RMSNormalization", {Shape{1, 2}, Shape{2}}, {{"epsilon", 11.0}}, 1),
                             {{{"x", {1, 3}}, {"gamma", {2, 4}}}}, {0.25F})});

TEST(Normalization, RefusesScalesOfAnotherWidth) {
  EXPECT_EQ(build_error(op_of("LayerNormalization", {Shape{2, 3}, Shape{3}, Shape{2}})),
            "op 'y' (LayerNormalization): x is [2, 3] and 'beta' [2]; it must have one element for each column of x");
  EXPECT_EQ(build_error(op_of("RMSNormalization", {Shape{2, 3}, Shape{3}}, {{"epsilon", -1.0}})),
            "op 'y' (RMSNormalization): epsilon must not be negative");
  EXPECT_EQ(build_error(op_of("RMSNormalizationGradient", {Shape{2, 3}, Shape{2, 3}, Shape{3}, Shape{3}})),
            "op 'y' (RMSNormalizationGradient): x is [2, 3] and 'rstd' [3]; there must be one number a row");
}

TEST(Normalization, RefusesALossOfItsStatistics) {
  EXPECT_THROW(gradient_error(op_of("LayerNormalization", kManyRows, {}, 1)), GraphError);
}

} // namespace
} // namespace gradweave::graph
