#include "operator_check.hpp"

#include "sw_models/functions/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

const float kFar = HUGE_VALF;

Check circular_again(const std::string &op, double reach, float (*f)(float)) {
  return replayed(op_of(op, {Shape{67}}), range(-reach, reach), [f](const Given &given) {
    std::vector<float> y = given.real.at("x");
    for (float &value : y)
      value = f(value);
    return y;
  });
}

Check circular_at(const std::string &op, const std::vector<float> &x, std::vector<float> y) {
  return exact(op_of(op, {Shape{static_cast<std::uint32_t>(x.size())}}), {{{"x", x}}}, std::move(y));
}

std::vector<Check> checks_of_circular(const std::string &op, double reach, float (*f)(float), Check special) {
  return {derivative(op_of(op, {Shape{3, 7}})), derivative(op_of(op, {Shape{}})),
          near_fp64(op_of(op, {Shape{67, 3}}), range(-reach, reach)), circular_again(op, 4 * reach, f),
          std::move(special)};
}

const Holds sin_holds({"Sin"},
                      checks_of_circular("Sin", 20, functions::sin,
                                         circular_at("Sin", {0, -0.0F, kFar, 5e6F, NAN}, {0, -0.0F, NAN, NAN, NAN})));
const Holds cos_holds({"Cos"},
                      checks_of_circular("Cos", 20, functions::cos,
                                         circular_at("Cos", {0, -0.0F, -kFar, 5e6F, NAN}, {1, 1, NAN, NAN, NAN})));
const Holds atan_holds({"Atan"}, checks_of_circular("Atan", 5, functions::atan,
                                                    circular_at("Atan", {0, -0.0F, kFar, -kFar, NAN},
                                                                {0, -0.0F, 1.57079637F, -1.57079637F, NAN})));
const Holds atan_gradient_holds({"AtanGradient"}, {near_fp64(op_of("AtanGradient", {Shape{67}, Shape{67}})),
                                                   exact(op_of("AtanGradient", {Shape{3}, Shape{3}}),
                                                         {{{"dy", {3, 1, 4}}, {"x", {0, 1, -3}}}}, {3, 0.5F, 0.4F})});

} // namespace
} // namespace gradweave::graph
