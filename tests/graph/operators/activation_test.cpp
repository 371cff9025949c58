#include "operator_check.hpp"

#include "sw_models/functions/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

const float kInf = HUGE_VALF;

using Function = float (*)(float);
using GradientFunction = float (*)(float, float);

/// y = f(x) once more, an element at a time.
Check replayed_map(Build build, const OperatorCheck &check, Function f) {
  return replayed(std::move(build), check, [f](const Given &given) {
    std::vector<float> y = given.real.at("x");
    for (float &value : y)
      value = f(value);
    return y;
  });
}

/// dx = f(dy, other).
Check replayed_gradient(Build build, const OperatorCheck &check, const char *other, GradientFunction f) {
  return replayed(std::move(build), check, [f, other](const Given &given) {
    std::vector<float> dx = given.real.at("dy");
    for (std::size_t i = 0; i < dx.size(); ++i)
      dx[i] = f(dx[i], given.real.at(other)[i]);
    return dx;
  });
}

/// What holds for each: derivatives over several ranges and shapes, and both executions of both ops near each other.
std::vector<Check> checks_of_activation(const std::string &op, const Attributes &attributes,
                                        std::vector<Check> others) {
  std::vector<Check> all = std::move(others);
  for (const OperatorCheck &check : {range(-2, 2), range(-5, 5, 1, 2), range(-0.1, 0.1, 1, 3)}) {
    all.push_back(derivative(op_of(op, {Shape{3, 7}}, attributes), check));
    all.push_back(near_fp64(op_of(op, {Shape{67, 3}}, attributes), check));
    all.push_back(near_fp64(op_of(op + "Gradient", {Shape{67, 3}, Shape{67, 3}}, attributes), check));
  }
  all.push_back(derivative(op_of(op, {Shape{}}, attributes)));
  return all;
}

Check at(const std::string &op, const Attributes &attributes, const std::vector<float> &x, std::vector<float> y) {
  return exact(op_of(op, {Shape{static_cast<std::uint32_t>(x.size())}}, attributes), {{{"x", x}}}, std::move(y));
}

/// Gradients for a dY of 1.
Check slope_at(const std::string &op, const Attributes &attributes, const char *other, const std::vector<float> &at,
               std::vector<float> slopes) {
  const Shape shape{static_cast<std::uint32_t>(at.size())};
  return exact(op_of(op + "Gradient", {shape, shape}, attributes),
               {{{"dy", std::vector<float>(at.size(), 1.0F)}, {other, at}}}, std::move(slopes));
}

namespace fn = functions;

float gelu(float x) {
  const float half = 0.5F * std::max(x, -16.0F);
  return std::fmaf(half, fn::erf(x * 0.70710678F), half);
}
float gelu_gradient(float dy, float x) {
  const float share = std::fmaf(0.5F, fn::erf(x * 0.70710678F), 0.5F);
  return dy * std::fmaf(x * 0.39894228F, fn::exp(x * x * -0.5F), share);
}
float gelu_tanh(float x) {
  const float factor = std::fmaf(x * x, static_cast<float>(0.79788456080286535588 * 0.044715), 0.79788456F);
  return std::fmaf(0.5F * x, fn::tanh(x * factor), 0.5F * x);
}
float gelu_tanh_gradient(float dy, float x) {
  const float square = x * x;
  const float t = fn::tanh(x * std::fmaf(square, static_cast<float>(0.79788456080286535588 * 0.044715), 0.79788456F));
  const float inner = std::fmaf(square, static_cast<float>(3 * 0.79788456080286535588 * 0.044715), 0.79788456F);
  return dy * std::fmaf(x * 0.5F * std::fmaf(-t, t, 1.0F), inner, std::fmaf(0.5F, t, 0.5F));
}

const Attributes kErf{{"approximate", std::string("none")}}, kTanh{{"approximate", std::string("tanh")}};

const Holds
    gelu_holds({"Gelu", "GeluGradient"},
               checks_of_activation(
                   "Gelu", kErf,
                   {replayed_map(op_of("Gelu", {Shape{67}}), range(-8, 8), gelu),
                    replayed_gradient(op_of("GeluGradient", {Shape{67}, Shape{67}}), range(-8, 8), "x", gelu_gradient),
                    at("Gelu", kErf, {0, -0.0F, -1e30F, 1e30F, -kInf, kInf, NAN}, {0, 0, 0, 1e30F, 0, kInf, NAN}),
                    slope_at("Gelu", kErf, "x", {0, -1e30F, 1e30F, -kInf, kInf, NAN}, {0.5F, 0, 1, 0, 1, NAN})}));

const Holds gelu_tanh_holds(
    {"Gelu", "GeluGradient"},
    checks_of_activation(
        "Gelu", kTanh,
        {replayed_map(op_of("Gelu", {Shape{67}}, kTanh), range(-8, 8), gelu_tanh),
         replayed_gradient(op_of("GeluGradient", {Shape{67}, Shape{67}}, kTanh), range(-8, 8), "x", gelu_tanh_gradient),
         at("Gelu", kTanh, {0, -1e30F, 1e30F, -kInf, kInf, NAN}, {0, 0, 1e30F, 0, kInf, NAN}),
         slope_at("Gelu", kTanh, "x", {0, -1e30F, 1e30F, -kInf, kInf, NAN}, {0.5F, 0, 1, 0, 1, NAN})}));

const Holds
    tanh_holds({"Tanh", "TanhGradient"},
               checks_of_activation("Tanh", {},
                                    {replayed_map(op_of("Tanh", {Shape{67}}), range(-8, 8), fn::tanh),
                                     replayed_gradient(op_of("TanhGradient", {Shape{67}, Shape{67}}), range(-1, 1), "y",
                                                       [](float dy, float y) { return dy * std::fmaf(-y, y, 1.0F); }),
                                     at("Tanh", {}, {-1e30F, 0, -0.0F, kInf, NAN}, {-1, 0, -0.0F, 1, NAN})}));

const Holds sigmoid_holds(
    {"Sigmoid", "SigmoidGradient"},
    checks_of_activation("Sigmoid", {},
                         {replayed_map(op_of("Sigmoid", {Shape{67}}), range(-8, 8), fn::sigmoid),
                          replayed_gradient(op_of("SigmoidGradient", {Shape{67}, Shape{67}}), range(0, 1), "y",
                                            [](float dy, float y) { return dy * std::fmaf(-y, y, y); }),
                          at("Sigmoid", {}, {-1e30F, 0, kInf, NAN}, {0, fn::sigmoid(0.0F), 1, NAN})}));

const Holds
    silu_holds({"Silu", "SiluGradient"},
               checks_of_activation("Silu", {},
                                    {replayed_map(op_of("Silu", {Shape{67}}), range(-8, 8),
                                                  [](float x) { return x * fn::sigmoid(x); }),
                                     replayed_gradient(op_of("SiluGradient", {Shape{67}, Shape{67}}), range(-8, 8), "x",
                                                       [](float dy, float x) {
                                                         const float s = fn::sigmoid(x);
                                                         return dy * (s * std::fmaf(x, 1 - s, 1.0F));
                                                       }),
                                     at("Silu", {}, {-1e30F, 0, kInf, NAN}, {-0.0F, 0, kInf, NAN}),
                                     slope_at("Silu", {}, "x", {-1e30F, 0, 1e30F}, {-0.0F, fn::sigmoid(0.0F), 1})}));

float softplus(float x) {
  const float e = fn::exp(-std::fabs(x)), sum = 1 + e;
  return std::max(x, 0.0F) + std::fmaf(e - (sum - 1), fn::reciprocal(sum), fn::log(sum));
}

const Holds softplus_holds(
    {"Softplus", "SoftplusGradient"},
    checks_of_activation("Softplus", {},
                         {replayed_map(op_of("Softplus", {Shape{67}}), range(-30, 30), softplus),
                          replayed_gradient(op_of("SoftplusGradient", {Shape{67}, Shape{67}}), range(-8, 8), "x",
                                            [](float dy, float x) { return dy * fn::sigmoid(x); }),
                          at("Softplus", {}, {-1e4F, 1e4F, -kInf, kInf, NAN}, {0, 1e4F, 0, kInf, NAN})}));

TEST(Softplus, KeepsSmallResults) {
  const float y = run_contract(op_of("Softplus", {Shape{1}}), {{"x", {-30}}})[0];
  EXPECT_NEAR(y / std::exp(-30.0), 1, 1e-6); // 1 + e^-30 is 1
}

const Attributes kAlpha{{"alpha", 0.1}};
const Holds leaky_holds(
    {"LeakyRelu", "LeakyReluGradient"},
    checks_of_activation("LeakyRelu", kAlpha,
                         {at("LeakyRelu", kAlpha, {-3, -0.0F, 5, -kInf, NAN}, {-3 * 0.1F, -0.0F, 5, -kInf, NAN}),
                          slope_at("LeakyRelu", kAlpha, "x", {-3, 0, 5, NAN}, {0.1F, 0.1F, 1, 0.1F})}));

const Attributes kSix{{"min", 0.0}, {"max", 6.0}}, kNarrow{{"min", -0.05}, {"max", 1.0}};
const Holds clip_holds({"Clip", "ClipGradient"},
                       checks_of_activation("Clip", kNarrow,
                                            {at("Clip", kSix, {-3, -0.0F, 5, 7, kInf, NAN}, {0, 0, 5, 6, 6, NAN}),
                                             at("Clip", {}, {-3, kInf}, {-3, 0x1.fffffep127F}),
                                             slope_at("Clip", kSix, "x", {-3, 0, 5, 6, NAN}, {0, 0, 1, 0, 0})}));

TEST(Activations, RefuseAttributesThatCannotBe) {
  EXPECT_EQ(build_error(op_of("Gelu", {Shape{2}}, {{"approximate", std::string("sigmoid")}})),
            "op 'y' (Gelu): approximate is \"sigmoid\"; it must be \"none\" or \"tanh\"");
  EXPECT_EQ(build_error(op_of("Clip", {Shape{2}}, {{"min", 2.0}, {"max", 1.0}})),
            "op 'y' (Clip): min is 2.0 and max 1.0; min must not be above max");
  EXPECT_EQ(build_error(op_of("TanhGradient", {Shape{2}, Shape{3}})),
            "op 'y' (TanhGradient): the shapes are [2] and [3]; they must be equal");
}

} // namespace
} // namespace gradweave::graph
