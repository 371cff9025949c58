#include "operator_check.hpp"

#include "sw_models/functions/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

const float kMasked = -HUGE_VALF;

/// Rows of x, each with the same mask of as many elements as a row.
std::vector<float> softmax_rows(const Given &given, std::size_t cols, float scale) {
  std::vector<float> p = given.real.at("x");
  for (std::size_t row = 0; row < p.size(); row += cols) {
    float most = kMasked, sum = 0;
    for (std::size_t i = row; i < row + cols; ++i)
      most = std::max(most, p[i] = std::fmaf(p[i], scale, given.real.at("mask")[i - row]));
    for (std::size_t i = row; i < row + cols; ++i)
      sum += p[i] = functions::exp(p[i] - most);
    for (std::size_t i = row; i < row + cols; ++i)
      p[i] *= functions::reciprocal(sum);
  }
  return p;
}

std::vector<float> gradient_rows(const Given &given, std::size_t cols, float scale) {
  const std::vector<float> &dy = given.real.at("dy"), &y = given.real.at("y");
  std::vector<float> dx(dy.size());
  for (std::size_t row = 0; row < dx.size(); row += cols) {
    float mean = 0;
    for (std::size_t i = row; i < row + cols; ++i)
      mean = std::fmaf(y[i], dy[i], mean);
    for (std::size_t i = row; i < row + cols; ++i)
      dx[i] = y[i] * (dy[i] - mean) * scale;
  }
  return dx;
}

const Attributes kScaled{{"scale", 0.3}};
const Shape kRows{3, 5};

const Holds softmax_holds(
    {"Softmax", "SoftmaxGradient"},
    {derivative(op_of("Softmax", {kRows})), derivative(op_of("Softmax", {Shape{1}})),
     derivative(op_of("Softmax", {Shape{2, 3, 7}, Shape{2, 1, 7}}, kScaled)),
     derivative(op_of("Softmax", {Shape{2, 3, 4, 5}, Shape{2, 1, 1, 5}}, kScaled)),
     derivative(op_of("Softmax", {kRows, Shape{3, 1}}, kScaled), range(-9, 9)),
     derivative(op_of("Softmax", {kRows, Shape{}})), near_fp64(op_of("Softmax", {Shape{9, 133}}), range(-10, 10)),
     near_fp64(op_of("Softmax", {Shape{2, 3, 7}, Shape{3, 1}}, kScaled)),
     near_fp64(op_of("SoftmaxGradient", {Shape{9, 33}, Shape{9, 33}}, kScaled), range(-1, 1)),
     replayed(op_of("Softmax", {Shape{9, 33}, Shape{33}}, kScaled), range(-10, 10),
              [](const Given &given) { return softmax_rows(given, 33, 0.3F); }),
     replayed(op_of("SoftmaxGradient", {Shape{9, 33}, Shape{9, 33}}, kScaled), range(-1, 1),
              [](const Given &given) { return gradient_rows(given, 33, 0.3F); }),
     // A row all masked gives 0; one that is not does not see what is masked.
     exact(op_of("Softmax", {Shape{3, 2}, Shape{3, 2}}),
           {{{"x", {1, 2, 3, 4, 5, 5}}, {"mask", {kMasked, kMasked, kMasked, 0, 0, 0}}}}, {0, 0, 0, 1, 0.5F, 0.5F}),
     // So does its gradient.
     exact(op_of("SoftmaxGradient", {Shape{2, 2}, Shape{2, 2}}), {{{"dy", {1, 2, 1, 2}}, {"y", {0, 0, 0.5F, 0.5F}}}},
           {0, 0, -0.25F, 0.25F}),
     exact(op_of("Softmax", {Shape{4, 2}}), {{{"x", {1e4F, -1e4F, -1e4F, -1e4F, NAN, 0, HUGE_VALF, 0}}}},
           {1, 0, 0.5F, 0.5F, NAN, NAN, NAN, NAN}),
     // Powers are summed ascending: 1 + 2^-24 + 2^-24 rounds back to 1 each time.
     exact(op_of("Softmax", {Shape{1, 3}}), {{{"x", {0, -16.635532F, -16.635532F}}}},
           {1, functions::exp(-16.635532F), functions::exp(-16.635532F)})});

TEST(Softmax, RefusesAMaskThatDoesNotFit) {
  EXPECT_EQ(build_error(op_of("Softmax", {Shape{2, 3}, Shape{2, 1, 3}})),
            "op 'y' (Softmax): [2, 1, 3] cannot be repeated to [2, 3]; from the last dimension on, each of its "
            "dimensions must be equal or 1");
  EXPECT_EQ(build_error(op_of("Softmax", {Shape{}})),
            "op 'y' (Softmax): x is a scalar; it needs a dimension to be distributed over");
  EXPECT_EQ(build_error(op_of("SoftmaxGradient", {Shape{2}, Shape{3}})),
            "op 'y' (SoftmaxGradient): dy is [2] and y [3]; they must be equal, and no scalars");
}

} // namespace
} // namespace gradweave::graph
