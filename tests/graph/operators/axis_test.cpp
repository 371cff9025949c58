// ArgMax, OneHot and CumSum, which walk along one axis.
#include "operator_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

Build arg_max(const Shape &x, std::int64_t axis, std::int64_t last = 0, std::int64_t keeps = 1) {
  return op_of("ArgMax", {x}, {{"axis", axis}, {"select_last_index", last}, {"keepdims", keeps}});
}

std::vector<Check> checks_of_arg_max() {
  const std::vector<float> x{1, 7, 7, 2, 5, 5, NAN, 9, NAN, -HUGE_VALF, -HUGE_VALF, -HUGE_VALF};
  std::vector<Check> all{exact(arg_max({4, 3}, 1), {{{"x", x}}}, {1, 1, 0, 0}),
                         exact(arg_max({4, 3}, -1, 1, 0), {{{"x", x}}}, {2, 2, 0, 2}),
                         exact(arg_max({3, 4}, 0, 1), {{{"x", x}}}, {2, 0, 1, 1}),
                         exact(arg_max({2, 3, 2}, 1), {{{"x", x}}}, {1, 0, 0, 0})};
  for (std::uint64_t seed = 1; seed < 9; ++seed)
    all.push_back(near_fp64(arg_max({2}, 0), range(0.1, 1, 1, seed))); // the last one is the largest of some
  all.push_back(near_fp64(arg_max({7, 9, 5}, 1)));
  all.push_back(near_fp64(arg_max({2}, 0), range(-1, -0.1)));
  return all;
}
const Holds arg_max_holds({"ArgMax"}, checks_of_arg_max());

Build one_hot(const Shape &indices, std::int64_t depth, std::int64_t axis, std::int64_t wraps = 0) {
  return op_of("OneHot", {indices}, {{"depth", depth}, {"axis", axis}, {"wraps", wraps}});
}
const Given kPlaces{{}, {{"indices", {2, 0, -1, 1}}}};
const Holds one_hot_holds({"OneHot"}, {exact(one_hot({4}, 3, -1), kPlaces, {0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0}),
                                       exact(one_hot({4}, 3, -1, 1), kPlaces, {0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0}),
                                       exact(one_hot({4}, 3, 0), kPlaces, {0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0}),
                                       exact(one_hot({2, 2}, 2, 1), kPlaces, {0, 1, 0, 0, 0, 0, 0, 1}),
                                       near_fp64(one_hot({5, 3}, 4, 1), range(-2, 2, 4))});

Build cum_sum(const Shape &x, std::int64_t axis, std::int64_t exclusive = 0) {
  return op_of("CumSum", {x}, {{"axis", axis}, {"exclusive", exclusive}});
}
const Holds
    cum_sum_holds({"CumSum"},
                  {derivative(cum_sum({3, 4}, 0)), derivative(cum_sum({3, 4}, -1, 1)),
                   derivative(cum_sum({2, 1, 3}, 1)), near_fp64(cum_sum({5, 7, 3}, 1)), near_fp64(cum_sum({1}, 0)),
                   exact(cum_sum({6}, 0), {{{"x", {-0.0F, 1e8F, 3, -1e8F, NAN, 1}}}}, {0, 1e8F, 1e8F, 0, NAN, NAN}),
                   exact(cum_sum({2, 3}, 1, 1), {{{"x", {1, 2, 3, 4, 5, 6}}}}, {0, 1, 3, 0, 4, 9})});

TEST(AxisOperators, RefuseWhatIsNoAxisAndNoFlag) {
  EXPECT_EQ(build_error(arg_max({2, 3}, 0, 2)), "op 'y' (ArgMax): attribute 'select_last_index' = 2 must be 0 or 1");
  EXPECT_EQ(build_error(cum_sum({2, 3}, 0, 2)), "op 'y' (CumSum): attribute 'exclusive' = 2 must be 0 or 1");
  EXPECT_EQ(build_error(one_hot({2}, 0, 0)), "op 'y' (OneHot): attribute 'depth' = 0 must be 1 to 2147483647");
  EXPECT_EQ(build_error(one_hot({2}, 3, 2)), "op 'y' (OneHot): attribute 'axis' = 2 must be -2 to 1 for indices [2]");
}

} // namespace
} // namespace gradweave::graph
