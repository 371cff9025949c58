#include "operator_check.hpp"

#include <gtest/gtest.h>

namespace gradweave::graph {
namespace {

TensorId build_gemm(Builder &b) {
  const TensorId x = b.parameter("x", {2, 5, 7}, "zeros");
  const TensorId w = b.parameter("w", {7, 3}, "zeros");
  return b.add("Gemm", {x, w}, {}, "y");
}

Build gemm_op(const std::string &op, const Shape &a, const Shape &b) {
  return [=](Builder &build) {
    const TensorId x = build.input("a", ElementType::kBf16, a);
    return build.add(op, {x, build.input("b", ElementType::kBf16, b)});
  };
}

const RealValues kAscending{{"a", {16777216.0F, 1, 1}}, {"b", {1, 1, 1}}};

const Holds gemm_holds({"Gemm", "GemmInputGradient", "GemmWeightGradient"},
                       {derivative(build_gemm), near_fp64(gemm_op("Gemm", {9, 33}, {33, 7}), {}, 1e-6),
                        near_fp64(gemm_op("GemmInputGradient", {9, 33}, {7, 33}), {}, 1e-6),
                        near_fp64(gemm_op("GemmWeightGradient", {33, 9}, {33, 7}), {}, 1e-6),
                        near_fp64(op_of("GemmWeightGradient", {Shape{3, 2}, Shape{3, 4}, Shape{2, 4}})),
                        exact(op_of("GemmWeightGradient", {Shape{2, 1}, Shape{2, 1}, Shape{1, 1}}),
                              {{{"x", {1, 1}}, {"dy", {1, 1}}, {"initial", {16777216.0F}}}}, {16777216}),
                        exact(gemm_op("Gemm", {1, 3}, {3, 1}), {kAscending}, {16777216}),
                        exact(gemm_op("GemmInputGradient", {1, 3}, {1, 3}), {kAscending}, {16777216}),
                        exact(gemm_op("GemmWeightGradient", {3, 1}, {3, 1}), {kAscending}, {16777216})});

TEST(Gemm, DerivativeIsThatOfDifferences) { EXPECT_LT(gradient_error(build_gemm), 1e-9); }

TEST(Gemm, BrokenDerivativeIsFound) {
  // dY of the weights' gradient is taken for that of the input's, doubled.
  EXPECT_GT(gradient_error(build_gemm, {}, double_gradient_of("GemmWeightGradient")), 1e-3);
  EXPECT_GT(gradient_error(build_gemm, {}, double_gradient_of("GemmInputGradient")), 1e-3);
}

TEST(Gemm, AccumulatesAscendingWithOneRoundingAStep) {
  const std::vector<float> y = run_contract(
      [](Builder &b) {
        return b.add("Gemm", {b.input("x", ElementType::kBf16, {1, 3}), b.input("w", ElementType::kBf16, {3, 1})});
      },
      {{"x", {16777216.0F, 1.0F, 1.0F}}, {"w", {1.0F, 1.0F, 1.0F}}});
  EXPECT_EQ(y, std::vector<float>{16777216.0F}); // 2^24 + 1 rounds back each time; another order gives 2^24 + 2
}

TEST(Gemm, RefusesColumnsThatDoNotMeetRows) {
  const std::string error = build_error([](Builder &b) {
    b.at("net.graph:7");
    return b.add("Gemm", {b.parameter("x", {2, 5}, "zeros"), b.parameter("w", {6, 3}, "zeros")}, {}, "y");
  });
  EXPECT_EQ(error, "net.graph:7: op 'y' (Gemm): x is [2, 5] and w [6, 3]: the columns of x must be the rows of w");
}

} // namespace
} // namespace gradweave::graph
