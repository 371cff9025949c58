#include "operator_check.hpp"

#include "graph/passes/gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

std::vector<Check> checks_of_rounding(const std::string &op, std::vector<float> y) {
  const std::vector<float> x{-2.5F, -1.5F, -0.5F, 0.25F, 0.5F, 1.5F, 2.5F, 8388609, -1e30F, -0.0F, HUGE_VALF, NAN};
  std::vector<Check> all{near_fp64(op_of(op, {Shape{67, 3}}), range(-9, 9)),
                         exact(op_of(op, {Shape{12}}), {{{"x", x}}}, std::move(y))};
  for (std::uint64_t seed = 1; seed < 4; ++seed) // a single number that is not rounded to 0
    all.push_back(near_fp64(op_of(op, {Shape{}}), range(1.2, 1.8, 1, seed)));
  all.push_back(near_fp64(op_of(op, {Shape{}}), range(-1.8, -1.2)));
  return all;
}

const Holds round_holds({"Round"},
                        checks_of_rounding("Round", {-2, -2, 0, 0, 0, 2, 2, 8388609, -1e30F, 0, HUGE_VALF, NAN}));
const Holds floor_holds({"Floor"},
                        checks_of_rounding("Floor", {-3, -2, -1, 0, 0, 1, 2, 8388609, -1e30F, 0, HUGE_VALF, NAN}));
const Holds ceil_holds({"Ceil"},
                       checks_of_rounding("Ceil", {-2, -1, 0, 1, 1, 2, 3, 8388609, -1e30F, 0, HUGE_VALF, NAN}));

/// x - Floor(x) has the gradient of x: nothing passes through the floor, and nothing is refused.
TEST(Floor, PassesNoGradientOn) {
  EXPECT_LT(gradient_error([](Builder &b) {
              const TensorId x = b.parameter("x", {3, 4}, "zeros");
              return b.add("Sub", {x, b.add("Floor", {x})}, {}, "y");
            }),
            1e-9);
}

} // namespace
} // namespace gradweave::graph
