// Gelu: D. Hendrycks, K. Gimpel, "Gaussian error linear units": x times the normal distribution's share below x; exact
// by erf, or its approximation by tanh. Templates over an arithmetic (graph/golden): of the contract, fp64, or
// recorded.
#pragma once

#include "graph/operators/loops/entry.hpp"

namespace gradweave::graph {

inline constexpr double kRootHalf = 0.70710678118654752440;      // sqrt(1 / 2)
inline constexpr double kDensity = 0.39894228040143267794;       // 1 / sqrt(2 pi)
inline constexpr double kRootTwoOverPi = 0.79788456080286535588; // sqrt(2 / pi)
inline constexpr double kCubic = 0.044715;
/// Beyond these the results are x, 0, dy and 0 in fp32; at infinities nothing is to become NaN.
inline constexpr double kFlat = 16, kFlatGradient = 15, kFlatTanhGradient = 10;

/// value(): Gelu of x. slope(): its derivative, times which dy is dx.
struct GeluByErf {
  template <class A> static typename A::Value value(typename A::Value x) {
    const auto half = A::mul(A::max(x, number<A>(-kFlat)), number<A>(0.5));
    const auto e = A::erf(A::mul(x, number<A>(kRootHalf)));
    return A::fma(half, e, half);
  }
  template <class A> static typename A::Value slope(typename A::Value x) {
    const auto near = A::min(A::max(x, number<A>(-kFlatGradient)), number<A>(kFlatGradient));
    const auto share = A::fma(number<A>(0.5), A::erf(A::mul(near, number<A>(kRootHalf))), number<A>(0.5));
    const auto power = A::exp_midrange(A::mul(A::mul(near, near), number<A>(-0.5)));
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

} // namespace gradweave::graph
