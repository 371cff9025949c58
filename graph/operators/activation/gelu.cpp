// Gelu: D. Hendrycks, K. Gimpel, "Gaussian error linear units": x times the normal distribution's share below x; exact
// by erf, or its approximation by tanh.
#include "graph/operators/activation/activation.hpp"

namespace gradweave::graph {
namespace {

constexpr double kRootHalf = 0.70710678118654752440;      // sqrt(1 / 2)
constexpr double kDensity = 0.39894228040143267794;       // 1 / sqrt(2 pi)
constexpr double kRootTwoOverPi = 0.79788456080286535588; // sqrt(2 / pi)
constexpr double kCubic = 0.044715;
/// Beyond these the results are x, 0, dy and 0 in fp32; at infinities nothing is to become NaN.
constexpr double kFlat = 16, kFlatGradient = 15, kFlatTanhGradient = 10;

struct GeluByErf {
  template <class A> static typename A::Value value(typename A::Value x) {
    const auto half = A::mul(A::max(x, number<A>(-kFlat)), number<A>(0.5));
    const auto e = A::erf(A::mul(x, number<A>(kRootHalf)));
    return A::fma(half, e, half);
  }
  template <class A> static typename A::Value slope(typename A::Value x) {
    const auto near = A::min(A::max(x, number<A>(-kFlatGradient)), number<A>(kFlatGradient));
    const auto share = A::fma(number<A>(0.5), A::erf(A::mul(near, number<A>(kRootHalf))), number<A>(0.5));
    const auto power = A::exp(A::mul(A::mul(near, near), number<A>(-0.5)));
    return A::fma(A::mul(near, number<A>(kDensity)), power, share);
  }
};

struct GeluByTanh {
  template <class A> static typename A::Value value(typename A::Value x) {
    const auto half = A::mul(A::max(x, number<A>(-kFlat)), number<A>(0.5));
    const auto factor =
        A::fma(A::mul(x, x), number<A>(kRootTwoOverPi * kCubic), number<A>(kRootTwoOverPi)); // of x, in the argument
    return A::fma(half, A::tanh(A::mul(x, factor)), half);
  }
  template <class A> static typename A::Value slope(typename A::Value x) {
    const auto near = A::min(A::max(x, number<A>(-kFlatTanhGradient)), number<A>(kFlatTanhGradient));
    const auto square = A::mul(near, near);
    const auto factor = A::fma(square, number<A>(kRootTwoOverPi * kCubic), number<A>(kRootTwoOverPi));
    const auto t = A::tanh(A::mul(near, factor));
    const auto inner = A::fma(square, number<A>(3 * kRootTwoOverPi * kCubic), number<A>(kRootTwoOverPi));
    const auto rest = A::mul(A::mul(near, number<A>(0.5)), A::fma(-t, t, number<A>(1)));
    return A::fma(rest, inner, A::fma(number<A>(0.5), t, number<A>(0.5)));
  }
};

template <class A> bool by_tanh(const Kernel<A> &k) { return k.attributes().text("approximate") == "tanh"; }

struct GeluRun {
  template <class A> static void run(Kernel<A> &k) {
    if (by_tanh(k))
      map_elements(k, [](auto x) { return GeluByTanh::value<A>(x); });
    else
      map_elements(k, [](auto x) { return GeluByErf::value<A>(x); });
  }
};

struct GeluGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    if (by_tanh(k))
      zip_elements(k, [](auto dy, auto x) { return A::mul(dy, GeluByTanh::slope<A>(x)); });
    else
      zip_elements(k, [](auto dy, auto x) { return A::mul(dy, GeluByErf::slope<A>(x)); });
  }
};

void check_approximate(const Inference &op) {
  const std::string &approximate = op.attributes().text("approximate");
  op.require(approximate == "none" || approximate == "tanh",
             "approximate is \"" + approximate + "\"; it must be \"none\" or \"tanh\"");
}

void infer_gelu(Inference &op) {
  check_approximate(op);
  infer_like_first(op);
}

void infer_gelu_gradient(Inference &op) {
  check_approximate(op);
  infer_activation_gradient(op);
}

double gelu_operations(const OpView &op) {
  const bool tanh = op.op.attributes.text("approximate") == "tanh";
  return (tanh ? 6 + function_cost::tanh() : 4 + function_cost::erf()) *
         static_cast<double>(op.output(0).shape.elements());
}

double gelu_gradient_operations(const OpView &op) {
  const bool tanh = op.op.attributes.text("approximate") == "tanh";
  return (tanh ? 12 + function_cost::tanh() : 9 + function_cost::erf() + function_cost::exp()) *
         static_cast<double>(op.output(0).shape.elements());
}

} // namespace

std::vector<Operator> gelu_operators() {
  const AttributeSpec approximate{"approximate", AttributeKind::kText, std::string("none"),
                                  "\"none\": by erf; \"tanh\": by tanh of a cubic"};
  Operator gelu = activation<GeluRun, From::kInput>("Gelu", "x Phi(x), Phi the normal distribution", gelu_operations);
  gelu.attributes = {approximate};
  gelu.infer = infer_gelu;
  Operator gradient = activation_gradient<GeluGradientRun, From::kInput>(
      "GeluGradient", "dy (Phi(x) + x phi(x)), or the same of the approximation", gelu_gradient_operations);
  gradient.attributes = {approximate};
  gradient.infer = infer_gelu_gradient;
  return {gelu, gradient};
}

} // namespace gradweave::graph
