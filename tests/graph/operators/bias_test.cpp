#include "operator_check.hpp"

#include <gtest/gtest.h>

namespace gradweave::graph {
namespace {

Build bias(const Shape &x) {
  return [=](Builder &b) {
    const TensorId in = b.parameter("x", x, "zeros");
    return b.add("Bias", {in, b.parameter("b", {x.cols()}, "zeros")}, {}, "y");
  };
}

Build column_sums(const Shape &dy, bool initial) {
  return [=](Builder &b) {
    const TensorId x = b.input("dy", ElementType::kFp32, dy);
    return b.add("BiasGradient",
                 {x, initial ? b.input("initial", ElementType::kFp32, {dy.cols()}) : std::uint32_t{kNone}});
  };
}

const Holds bias_holds(
    {"Bias", "BiasGradient"},
    {derivative(bias({3, 5})), derivative(bias({7})), derivative(bias({2, 3, 67})), near_fp64(bias({9, 70})),
     near_fp64(column_sums({33, 70}, false)), near_fp64(column_sums({3, 7}, true)),
     exact(bias({2, 2}), {{{"x", {1, -0.0F, 0x1p24F, 4}}, {"b", {1, -0.0F}}}}, {2, -0.0F, 0x1p24F, 4}),
     exact(column_sums({4, 2}, false), {{{"dy", {0x1p24F, -0.0F, 1, -0.0F, 1, -0.0F, 1, -0.0F}}}}, {0x1p24F, 0}),
     exact(column_sums({3, 2}, true), {{{"dy", {1, 2, 1, 3, 1, 4}}, {"initial", {0x1p24F, 10}}}}, {0x1p24F, 19})});

TEST(Bias, RefusesAnotherWidth) {
  EXPECT_EQ(build_error([](Builder &b) {
              return b.add("Bias", {b.parameter("x", {2, 3}, "zeros"), b.parameter("b", {2}, "zeros")}, {}, "y");
            }),
            "op 'y' (Bias): x is [2, 3] and b [2]: b must have one element for each column of x");
}

TEST(Bias, RefusesAnInitialValueOfAnotherWidth) {
  EXPECT_EQ(
      build_error([](Builder &b) {
        return b.add("BiasGradient", {b.parameter("x", {2, 3}, "zeros"), b.parameter("b", {2}, "zeros")}, {}, "y");
      }),
      "op 'y' (BiasGradient): the initial value must be of the result's shape, [3]");
}

} // namespace
} // namespace gradweave::graph
