#include "operator_check.hpp"

#include "sw_models/functions/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

const float kTop = HUGE_VALF; // infinity

Check one_by_one(const std::string &op, const OperatorCheck &check, float (*f)(float)) {
  return replayed(op_of(op, {Shape{67}}), check, [f](const Given &given) {
    std::vector<float> y = given.real.at("x");
    for (float &value : y)
      value = f(value);
    return y;
  });
}

Check values_of(const std::string &op, const std::vector<float> &x, std::vector<float> y) {
  return exact(op_of(op, {Shape{static_cast<std::uint32_t>(x.size())}}), {{{"x", x}}}, std::move(y));
}

std::vector<Check> checks_of_function(const std::string &op, const OperatorCheck &check, std::vector<Check> others) {
  std::vector<Check> all = std::move(others);
  all.push_back(derivative(op_of(op, {Shape{3, 7}}), check));
  all.push_back(derivative(op_of(op, {Shape{}}), check));
  all.push_back(near_fp64(op_of(op, {Shape{67, 3}}), check));
  return all;
}

const OperatorCheck kPositive = range(0.5, 3);
const Build kSqrtGradient = op_of("SqrtGradient", {Shape{67}, Shape{67}});
const Holds sqrt_holds({"Sqrt", "SqrtGradient"},
                       checks_of_function("Sqrt", kPositive,
                                          {one_by_one("Sqrt", kPositive, functions::sqrt),
                                           values_of("Sqrt", {4, -0.0F, -1, kTop}, {2, -0.0F, NAN, kTop}),
                                           near_fp64(kSqrtGradient, kPositive),
                                           exact(op_of("SqrtGradient", {Shape{2}, Shape{2}}),
                                                 {{{"dy", {3, 1}}, {"y", {2, 4}}}}, {0.75F, 0.125F})}));
const Holds reciprocal_holds({"Reciprocal", "ReciprocalGradient"},
                             checks_of_function("Reciprocal", kPositive,
                                                {one_by_one("Reciprocal", kPositive, functions::reciprocal),
                                                 values_of("Reciprocal", {4, -0.0F, kTop, NAN}, {0.25F, -kTop, 0, NAN}),
                                                 near_fp64(op_of("ReciprocalGradient", {Shape{67}, Shape{67}})),
                                                 exact(op_of("ReciprocalGradient", {Shape{2}, Shape{2}}),
                                                       {{{"dy", {3, 1}}, {"y", {2, 4}}}}, {-12, -16})}));
const Holds exp_holds({"Exp"}, checks_of_function("Exp", range(-2, 2),
                                                  {one_by_one("Exp", range(-20, 20), functions::exp),
                                                   values_of("Exp", {0, -1e4F, 1e4F, NAN}, {1, 0, kTop, NAN})}));
const Holds log_holds({"Log"}, checks_of_function("Log", kPositive,
                                                  {one_by_one("Log", kPositive, functions::log),
                                                   values_of("Log", {1, 0, -1, kTop}, {0, -kTop, NAN, kTop})}));
const Holds
    erf_holds({"Erf", "ErfGradient"},
              checks_of_function("Erf", range(-2, 2),
                                 {one_by_one("Erf", range(-5, 5), functions::erf),
                                  values_of("Erf", {0, 1e4F, -1e4F, NAN}, {0, 1, -1, NAN}),
                                  near_fp64(op_of("ErfGradient", {Shape{67}, Shape{67}})),
                                  exact(op_of("ErfGradient", {Shape{2}, Shape{2}}), {{{"dy", {2, 1}}, {"x", {0, 100}}}},
                                        {2 * 1.12837916709551257390F, 0})}));
const Holds abs_holds({"Abs", "AbsGradient"},
                      checks_of_function("Abs", range(-2, 2),
                                         {values_of("Abs", {-3, -0.0F, 2, NAN}, {3, 0, 2, NAN}),
                                          near_fp64(op_of("AbsGradient", {Shape{5}, Shape{5}})),
                                          exact(op_of("AbsGradient", {Shape{5}, Shape{5}}),
                                                {{{"dy", {2, 3, 4, 5, NAN}}, {"x", {-1, 0, 1, NAN, -1}}}},
                                                {-2, 0, 4, 0, NAN})}));

/// Of a and b: 1 2, 2 2, 3 2, NaN 2, -0 +0.
Check compared(const std::string &op, std::vector<float> y) {
  return exact(op_of(op, {Shape{5}, Shape{5}}), {{{"a", {1, 2, 3, NAN, -0.0F}}, {"b", {2, 2, 2, 2, 0}}}}, std::move(y));
}
/// Equal numbers, and positive ones in both orders: with 0 for one of the two the answer is another one.
std::vector<Check> checks_of_comparison(const std::string &op, std::vector<float> y) {
  std::vector<Check> all{near_fp64(op_of(op, {Shape{3, 4}, Shape{4}})), near_fp64(op_of(op, {Shape{1}, Shape{2, 3}})),
                         near_fp64(op_of(op, {Shape{1}, Shape{1}}), range(1, 1)), compared(op, std::move(y))};
  for (std::uint64_t seed = 1; seed < 9; ++seed)
    all.push_back(near_fp64(op_of(op, {Shape{1}, Shape{1}}), range(0.1, 1, 1, seed)));
  return all;
}
const Holds less_holds({"Less"}, checks_of_comparison("Less", {1, 0, 0, 0, 0}));
const Holds less_equal_holds({"LessOrEqual"}, checks_of_comparison("LessOrEqual", {1, 1, 0, 0, 1}));
const Holds greater_holds({"Greater"}, checks_of_comparison("Greater", {0, 0, 1, 0, 0}));
const Holds greater_equal_holds({"GreaterOrEqual"}, checks_of_comparison("GreaterOrEqual", {0, 1, 1, 0, 1}));
const Holds equal_holds({"Equal"}, checks_of_comparison("Equal", {0, 1, 0, 0, 1}));

const Holds not_equal_holds({"NotEqual"}, checks_of_comparison("NotEqual", {1, 0, 1, 1, 0}));

const Holds where_holds({"Where"},
                        {derivative(op_of("Where", {Shape{3, 4}, Shape{3, 4}, Shape{3, 4}}), range(-2, 2, 2)),
                         derivative(op_of("Where", {Shape{4}, Shape{3, 1}, Shape{}}), range(-2, 2, 2)),
                         derivative(op_of("Where", {Shape{2, 1, 1}, Shape{3, 1}, Shape{4}}), range(-2, 2, 2, 2)),
                         near_fp64(op_of("Where", {Shape{33, 1}, Shape{33, 7}, Shape{7}}), range(-2, 2, 2)),
                         exact(op_of("Where", {Shape{4}, Shape{4}, Shape{1}}),
                               {{{"a", {1, 2, NAN, 4}}, {"b", {9}}}, {{"condition", {1, 0, -7, 0}}}}, {1, 9, NAN, 9})});

std::vector<Check> checks_of_choice(const std::string &op, std::vector<float> y) {
  return {
      derivative(op_of(op, {Shape{3, 4}, Shape{3, 4}})),
      derivative(op_of(op, {Shape{3, 1}, Shape{4}})),
      near_fp64(op_of(op, {Shape{3, 4}, Shape{4}})),
      near_fp64(op_of(op, {Shape{3}, Shape{3}}), range(0.1, 1)),
      near_fp64(op_of(op, {Shape{3}, Shape{3}}), range(-1, -0.1)),
      exact(op_of(op, {Shape{5}, Shape{5}}), {{{"a", {1, 2, -0.0F, NAN, 5}}, {"b", {2, 1, 0, 2, NAN}}}}, std::move(y))};
}
const Holds max_holds({"Max"}, checks_of_choice("Max", {2, 2, 0, NAN, NAN}));
const Holds min_holds({"Min"}, checks_of_choice("Min", {1, 1, -0.0F, NAN, NAN}));

TEST(Where, RefusesRealConditionsAndShapesThatDoNotMeet) {
  EXPECT_EQ(build_error([](Builder &b) {
              const TensorId x = b.input("x", ElementType::kFp32, {2});
              return b.add("Where", {x, x, x}, {}, "y");
            }),
            "op 'y' (Where): input 'condition' is 'x', which is fp32; int32 is wanted");
  EXPECT_EQ(build_error(op_of("Where", {Shape{2}, Shape{2}, Shape{3}})),
            "op 'y' (Where): the shapes are [2] and [3]; from the last dimension on, each pair must be equal or have a "
            "1");
}

} // namespace
} // namespace gradweave::graph
