#include "operator_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace gradweave::graph {
namespace {

const char *const kHardSwish = "HardSwish", *const kHardSwishGradient = "HardSwishGradient";

float hard_swish(float x) {
  return x * std::min(std::max(std::fmaf(x, static_cast<float>(1.0 / 6), 0.5F), 0.0F), 1.0F);
}
float hard_swish_slope(float x) {
  if (x < -3) return 0;
  return x < 3 ? std::fmaf(x, static_cast<float>(1.0 / 3), 0.5F) : 1;
}

Check hard_swish_again() {
  return replayed(op_of(kHardSwish, {Shape{67}}), range(-5, 5), [](const Given &given) {
    std::vector<float> y = given.real.at("x");
    std::transform(y.begin(), y.end(), y.begin(), hard_swish);
    return y;
  });
}

Check hard_swish_gradient_again() {
  return replayed(op_of(kHardSwishGradient, {Shape{67}, Shape{67}}), range(-5, 5), [](const Given &given) {
    std::vector<float> dx = given.real.at("dy");
    for (std::size_t i = 0; i < dx.size(); ++i)
      dx[i] *= hard_swish_slope(given.real.at("x")[i]);
    return dx;
  });
}

Check hard_swish_at(const std::vector<float> &x, std::vector<float> y) {
  return exact(op_of(kHardSwish, {Shape{static_cast<std::uint32_t>(x.size())}}), {{{"x", x}}}, std::move(y));
}

/// For a dY of 1.
Check hard_swish_slope_at(const std::vector<float> &x, std::vector<float> slopes) {
  const Shape shape{static_cast<std::uint32_t>(x.size())};
  return exact(op_of(kHardSwishGradient, {shape, shape}), {{{"dy", std::vector<float>(x.size(), 1.0F)}, {"x", x}}},
               std::move(slopes));
}

const Holds hard_swish_holds(
    {kHardSwish, kHardSwishGradient},
    {derivative(op_of(kHardSwish, {Shape{3, 7}}), range(-2, 2)),
     derivative(op_of(kHardSwish, {Shape{3, 7}}), range(3.5, 6, 1, 2)),
     derivative(op_of(kHardSwish, {Shape{3, 7}}), range(-6, -3.5, 1, 3)), derivative(op_of(kHardSwish, {Shape{}})),
     near_fp64(op_of(kHardSwish, {Shape{67, 3}}), range(-5, 5)),
     near_fp64(op_of(kHardSwishGradient, {Shape{67, 3}, Shape{67, 3}}), range(-5, 5)), hard_swish_again(),
     hard_swish_gradient_again(),
     hard_swish_at({-4, -3, 0, -0.0F, 3, 7, 1e30F, HUGE_VALF, -HUGE_VALF, NAN},
                   {-0.0F, -0.0F, 0, -0.0F, 3, 7, 1e30F, HUGE_VALF, NAN, NAN}),
     hard_swish_slope_at({-1e30F, -4, 0, 3, 4, HUGE_VALF, -HUGE_VALF, NAN}, {0, 0, 0.5F, 1, 1, 1, 0, 1})});

TEST(HardSwish, HasOneShapeWithItsGradient) {
  EXPECT_EQ(build_error(op_of(kHardSwishGradient, {Shape{2}, Shape{3}})),
            "op 'y' (HardSwishGradient): the shapes are [2] and [3]; they must be equal");
}

} // namespace
} // namespace gradweave::graph
