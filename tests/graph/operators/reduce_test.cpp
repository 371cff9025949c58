#include "operator_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

Attributes over(std::vector<std::int64_t> axes, std::int64_t keep = 1) {
  return {{"axes", std::move(axes)}, {"keepdims", keep}};
}

Attributes of_shape(std::vector<std::int64_t> axes, std::vector<std::int64_t> shape) {
  return {{"axes", std::move(axes)}, {"shape", std::move(shape)}};
}

const Shape kBox{2, 3, 4};

std::vector<Check> checks_of_reduction(const std::string &op, std::vector<Check> others) {
  std::vector<Check> all = std::move(others);
  for (const std::int64_t keep : {0, 1})
    for (const std::vector<std::int64_t> &axes :
         std::vector<std::vector<std::int64_t>>{{}, {0}, {1}, {-1}, {0, 2}, {-2, -1}, {0, 1, 2}}) {
      all.push_back(derivative(op_of(op, {kBox}, over(axes, keep))));
      all.push_back(near_fp64(op_of(op, {Shape{5, 33, 7}}, over(axes, keep)), {}, 2e-6));
    }
  all.push_back(derivative(op_of(op, {Shape{}})));
  return all;
}

/// Rows 2^24 1 1 and 1 2 3.
const Given kRowsAndColumns{{{"x", {0x1p24F, 1, 1, 1, 2, 3}}}};

const Holds reduce_sum_holds(
    {"ReduceSum", "ReduceSumGradient"},
    checks_of_reduction("ReduceSum",
                        {exact(op_of("ReduceSum", {Shape{2, 3}}, over({1}, 0)), kRowsAndColumns, {0x1p24F, 6}),
                         exact(op_of("ReduceSum", {Shape{2, 3}}, over({0}, 0)), kRowsAndColumns, {0x1p24F, 3, 4}),
                         exact(op_of("ReduceSum", {Shape{2, 3}}), kRowsAndColumns, {0x1p24F + 4}), // + 1 rounds down
                         exact(op_of("ReduceSum", {Shape{1}}), {{{"x", {-0.0F}}}}, {0}),
                         near_fp64(op_of("ReduceSumGradient", {Shape{2, 1}}, of_shape({1}, {2, 3}))),
                         exact(op_of("ReduceSumGradient", {Shape{2}}, of_shape({-1}, {2, 3})), {{{"dy", {5, 7}}}},
                               {5, 5, 5, 7, 7, 7})}));

const Holds reduce_mean_holds(
    {"ReduceMean", "ReduceMeanGradient"},
    checks_of_reduction("ReduceMean",
                        {exact(op_of("ReduceMean", {Shape{2, 3}}, over({1}, 0)), kRowsAndColumns,
                               {0x1p24F * (1.0F / 3), 6 * (1.0F / 3)}),
                         near_fp64(op_of("ReduceMeanGradient", {Shape{2, 1}}, of_shape({1}, {2, 3}))),
                         exact(op_of("ReduceMeanGradient", {Shape{2}}, of_shape({1}, {2, 3})), {{{"dy", {5, 7}}}},
                               {5 * (1.0F / 3), 5 * (1.0F / 3), 5 * (1.0F / 3), 7 * (1.0F / 3), 7 * (1.0F / 3),
                                7 * (1.0F / 3)})}));

const std::vector<std::optional<Shape>> kMaxGradient{Shape{2, 1}, Shape{2, 3}, Shape{2, 1}};
/// The gradient of rows whose maximum is met twice goes to the first place.
const Holds reduce_max_holds(
    {"ReduceMax", "ReduceMaxGradient"},
    checks_of_reduction("ReduceMax",
                        {exact(op_of("ReduceMax", {Shape{2, 3}}, over({1}, 0)), {{{"x", {-3, -1, -2, 1, NAN, 3}}}},
                               {-1, NAN}),
                         near_fp64(op_of("ReduceMaxGradient", kMaxGradient, {{"axes", std::vector<std::int64_t>{1}}})),
                         exact(op_of("ReduceMaxGradient", kMaxGradient, {{"axes", std::vector<std::int64_t>{1}}}),
                               {{{"dy", {5, 7}}, {"x", {1, 4, 4, 9, 2, 9}}, {"y", {4, 9}}}}, {0, 5, 0, 7, 0, 0}),
                         exact(op_of("ReduceMaxGradient", {Shape{}, Shape{2}, Shape{}}),
                               {{{"dy", {5}}, {"x", {1, 4}}, {"y", {4}}}}, {0, 5})}));

TEST(Reduce, RefusesAxesThatAreNone) {
  EXPECT_EQ(build_error(op_of("ReduceSum", {kBox}, over({3}))),
            "op 'y' (ReduceSum): axis 3 is none of [2, 3, 4], whose axes are -3 to 2");
  EXPECT_EQ(build_error(op_of("ReduceMean", {kBox}, over({1}, 7))),
            "op 'y' (ReduceMean): attribute 'keepdims' = 7 must be 0 or 1");
  EXPECT_EQ(build_error(op_of("ReduceMax", {kBox}, over({1, -2}))), "op 'y' (ReduceMax): axis -2 is named twice");
  EXPECT_EQ(build_error(op_of("ReduceSumGradient", {Shape{3}}, of_shape({1}, {2, 3}))),
            "op 'y' (ReduceSumGradient): dy is [3]; [2, 3] reduces to 2 elements");
  EXPECT_EQ(build_error(op_of("ReduceMaxGradient", {Shape{2}, Shape{2, 3}, Shape{3}})),
            "op 'y' (ReduceMaxGradient): dy is [2] and y [3]; they must be equal");
}

} // namespace
} // namespace gradweave::graph
