#include "operator_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

/// Of two parameters.
Build binary(const std::string &op, const Shape &a, const Shape &b) {
  return [=](Builder &build) {
    const TensorId x = build.parameter("a", a, "zeros");
    return build.add(op, {x, build.parameter("b", b, "zeros")}, {}, "y");
  };
}

OperatorCheck between(double low, double high) {
  OperatorCheck check;
  check.low = low;
  check.high = high;
  return check;
}

const float kInfinity = HUGE_VALF;

/// Derivatives where b is repeated, where a is, and where both are; and contract against fp64.
std::vector<Check> checks_of_binary(const std::string &op, const OperatorCheck &range, std::vector<float> y) {
  return {derivative(binary(op, {3, 5}, {3, 5}), range),
          derivative(binary(op, {2, 3, 4}, {3, 1}), range),
          derivative(binary(op, {4}, {2, 3, 4}), range),
          derivative(binary(op, {2, 1, 3}, {5, 1}), range),
          derivative(binary(op, {}, {3}), range),
          derivative(binary(op, {7}, {1}), range),
          near_fp64(binary(op, {67, 33}, {33}), range),
          near_fp64(binary(op, {67, 33}, {67, 1}), range),
          exact(binary(op, {4}, {4}), {{{"a", {1, -0.0F, kInfinity, 3}}, {"b", {3, -0.0F, kInfinity, NAN}}}},
                std::move(y))};
}

const Holds add_holds({"Add"}, checks_of_binary("Add", {}, {4, -0.0F, kInfinity, NAN}));
const Holds sub_holds({"Sub"}, checks_of_binary("Sub", {}, {-2, 0, NAN, NAN}));
const Holds mul_holds({"Mul"}, checks_of_binary("Mul", {}, {3, 0, kInfinity, NAN}));
const Holds div_holds({"Div"}, checks_of_binary("Div", between(0.5, 2), {1.0F / 3, NAN, NAN, NAN}));

Build unary(const std::string &op, const Attributes &attributes = {}) {
  return [=](Builder &build) { return build.add(op, {build.parameter("x", {3, 7}, "zeros")}, attributes, "y"); };
}

Build three(const std::string &op, const Attributes &attributes = {}) {
  return [=](Builder &build) { return build.add(op, {build.parameter("x", {3}, "zeros")}, attributes, "y"); };
}

const Attributes kTenth{{"value", 0.1}};
const Holds scale_holds({"Scale"}, {derivative(unary("Scale", kTenth)), near_fp64(unary("Scale", kTenth)),
                                    exact(three("Scale", kTenth), {{{"x", {3, -0.0F, NAN}}}}, {3 * 0.1F, -0.0F, NAN})});
const Holds neg_holds({"Neg"}, {derivative(unary("Neg")), near_fp64(unary("Neg")),
                                exact(three("Neg"), {{{"x", {3, -0.0F, NAN}}}}, {-3, 0, NAN})});

TensorId build_sum_to(Builder &b) {
  return b.add("SumTo", {b.input("x", ElementType::kFp32, {2, 2, 3})}, {{"shape", std::vector<std::int64_t>{2, 1}}});
}

/// 2^24, 1, 1 ... in every order but the ascending one gives more.
const Holds sum_to_holds({"SumTo"},
                         {derivative(binary("Add", {2, 3, 4}, {3, 1})), near_fp64(build_sum_to),
                          exact(build_sum_to, {{{"x", {0x1p24F, 1, 1, 5, 6, 7, 1, 1, 1, 8, 9, 10}}}}, {0x1p24F, 45})});

/// The sum of so many rows; few are operands of one walk, more a chain.
template <std::uint32_t Rows> TensorId build_row_sum(Builder &b) {
  return b.add("SumTo", {b.input("x", ElementType::kFp32, {Rows, 2})}, {{"shape", std::vector<std::int64_t>{2}}});
}

const Holds few_rows_hold({"SumTo"}, {near_fp64(build_row_sum<5>),
                                      exact(build_row_sum<5>, {{{"x", {0x1p24F, 1, 1, 1, 1, 1, 1, 1, 1, 0x1p24F}}}},
                                            {0x1p24F, 0x1p24F + 4})});
const Holds many_rows_hold({"SumTo"},
                           {near_fp64(build_row_sum<6>),
                            exact(build_row_sum<6>, {{{"x", {0x1p24F, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0x1p24F}}}},
                                  {0x1p24F, 0x1p24F + 4})});

TEST(Arithmetic, AcceptsShapesThatAreRepeated) {
  const std::vector<float> y = run_contract(
      [](Builder &b) {
        return b.add("Sub", {b.input("a", ElementType::kFp32, {2, 1, 2}), b.input("b", ElementType::kFp32, {3, 1})});
      },
      {{"a", {10, 20, 30, 40}}, {"b", {1, 2, 3}}});
  EXPECT_EQ(y, (std::vector<float>{9, 19, 8, 18, 7, 17, 29, 39, 28, 38, 27, 37}));
}

TEST(Arithmetic, RefusesShapesThatDoNotMeet) {
  EXPECT_EQ(build_error([](Builder &b) {
              b.at("net.graph:4");
              return binary("Mul", {2, 3}, {2})(b);
            }),
            "net.graph:4: op 'y' (Mul): the shapes are [2, 3] and [2]; from the last dimension on, each pair must be "
            "equal or have a 1");
}

TEST(Arithmetic, RefusesAScaleWithoutValue) {
  EXPECT_EQ(build_error(unary("Scale")), "op 'y' (Scale): attribute 'value' is missing: the factor, rounded to fp32");
}

TEST(SumTo, RefusesAShapeThatIsNoPart) {
  EXPECT_EQ(build_error(unary("SumTo", {{"shape", std::vector<std::int64_t>{7, 3}}})),
            "op 'y' (SumTo): [7, 3] cannot be repeated to [3, 7]; from the last dimension on, each of its dimensions "
            "must be equal or 1");
  EXPECT_EQ(build_error(unary("SumTo", {{"shape", std::vector<std::int64_t>{0}}})),
            "op 'y' (SumTo): shape has the dimension 0; it must be positive");
}

} // namespace
} // namespace gradweave::graph
