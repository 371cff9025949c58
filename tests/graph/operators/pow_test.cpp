#include "operator_check.hpp"

#include "sw_models/functions/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

const OperatorCheck kAboveZero = range(0.5, 3);

Check powers_again() {
  return replayed(op_of("Pow", {Shape{67}, Shape{67}}), kAboveZero, [](const Given &given) {
    std::vector<float> y = given.real.at("a");
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = functions::exp(given.real.at("b")[i] * functions::log(y[i]));
    return y;
  });
}

const Holds pow_holds({"Pow"},
                      {derivative(op_of("Pow", {Shape{3, 4}, Shape{3, 4}}), kAboveZero),
                       derivative(op_of("Pow", {Shape{3, 1}, Shape{4}}), kAboveZero),
                       derivative(op_of("Pow", {Shape{}, Shape{}}), kAboveZero),
                       near_fp64(op_of("Pow", {Shape{67, 3}, Shape{3}}), kAboveZero), powers_again(),
                       exact(op_of("Pow", {Shape{9}, Shape{9}}),
                             {{{"a", {-1, -1, -1, -1, 0, 0, 0, NAN, 1}}, {"b", {3, 2, 0.5F, -1, 2, 0, -1, 1, 7}}}},
                             {-1, 1, NAN, -1, 0, 1, HUGE_VALF, NAN, 1})});

/// A whole exponent has a gradient below 0, too.
TEST(Pow, HasAGradientBelowZero) {
  EXPECT_LT(gradient_error(
                [](Builder &b) {
                  const TensorId x = b.parameter("x", {3, 4}, "zeros");
                  return b.add("Pow", {x, b.constant("three", {}, {3})}, {}, "y");
                },
                range(-2, -0.5)),
            1e-9);
}

} // namespace
} // namespace gradweave::graph
