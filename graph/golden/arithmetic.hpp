// The two arithmetics in which a graph is executed: that of the numeric contract, and fp64 to compare with.
#pragma once

#include "sw_models/functions/circular.hpp"
#include "sw_models/functions/exponentials.hpp"
#include "sw_models/functions/fp32.hpp"
#include "sw_models/functions/roots.hpp"
#include "sw_models/functions/rounding.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace gradweave::graph {

/// fp32 operations and functions of docs/numerics.md, bit by bit (N18, N19). None branches on a value, so that loops
/// over elements become vectors.
struct Contract {
  using Value = float;
  using Mask = bool;          ///< what a comparison gives
  using Index = std::int32_t; ///< of an int32 tensor
  static Value add(Value a, Value b) { return canonical(a + b); }
  static Value sub(Value a, Value b) { return canonical(a - b); }
  static Value mul(Value a, Value b) { return canonical(a * b); }
  static Value fma(Value a, Value b, Value c) { return canonical(std::fmaf(a, b, c)); }
  /// NaN if one is; -0 lies below +0.
  static Value min(Value a, Value b) {
    return apply(a, b, [](auto &p, auto x, auto y) { return p.min(x, y); });
  }
  static Value max(Value a, Value b) {
    return apply(a, b, [](auto &p, auto x, auto y) { return p.max(x, y); });
  }

  /// False with a NaN; -0 equals +0.
  static Mask lt(Value a, Value b) { return a < b; }
  static Mask le(Value a, Value b) { return a <= b; }
  static Mask eq(Value a, Value b) { return a == b; }
  static Mask same(Index a, Index b) { return a == b; }
  /// The same where b is a step's number.
  static Mask is_step(Index a, Index b) { return a == b; }
  /// Its bit 31: of -0, too.
  static Mask is_negative(Value x) { return std::signbit(x); }
  /// a or b, all bits as they are.
  static Value select(Mask c, Value a, Value b) { return c ? a : b; }
  /// x; a NaN becomes the canonical one.
  static Value quiet(Value x) { return canonical(x); }

  static Value div(Value a, Value b) {
    return apply(a, b, [](auto &p, auto x, auto y) { return functions::divide(p, x, y); });
  }
  static Value reciprocal(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::reciprocal(p, v); });
  }
  static Value sqrt(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::sqrt(p, v); });
  }
  static Value rsqrt(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::rsqrt(p, v); });
  }
  static Value exp(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::exp(p, v); });
  }
  static Value log(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::log(p, v); });
  }
  static Value tanh(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::tanh(p, v); });
  }
  static Value erf(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::erf(p, v); });
  }
  static Value sigmoid(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::sigmoid(p, v); });
  }
  static Value sin(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::sin(p, v); });
  }
  static Value cos(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::cos(p, v); });
  }
  static Value atan(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::atan(p, v); });
  }
  static Value round(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::round(p, v); });
  }

  /// Functions with fewer operations, of numbers in the ranges that roots.hpp and exponentials.hpp name.
  static Value div_midrange(Value a, Value b) {
    return apply(a, b, [](auto &p, auto x, auto y) { return functions::divide_midrange(p, x, y); });
  }
  static Value reciprocal_midrange(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::reciprocal_midrange(p, v); });
  }
  static Value sqrt_midrange(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::sqrt_midrange(p, v); });
  }
  static Value exp_midrange(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::exp_midrange(p, v); });
  }
  static Value exp_below(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::exp_below(p, v); });
  }
  static Value log_midrange(Value x) {
    return apply(x, [](auto &p, auto v) { return functions::log_midrange(p, v); });
  }

private:
  template <class Sequence> static Value apply(Value x, Sequence sequence) {
    functions::Fp32 policy;
    return fp32_from_bits(sequence(policy, bits_of_fp32(x)));
  }
  template <class Sequence> static Value apply(Value a, Value b, Sequence sequence) {
    functions::Fp32 policy;
    return fp32_from_bits(sequence(policy, bits_of_fp32(a), bits_of_fp32(b)));
  }
};

/// The same operations in double precision: real numbers, for all that it matters here.
struct Reference {
  using Value = double;
  using Mask = bool;
  using Index = std::int32_t;
  static Value add(Value a, Value b) { return a + b; }
  static Value sub(Value a, Value b) { return a - b; }
  static Value mul(Value a, Value b) { return a * b; }
  static Value fma(Value a, Value b, Value c) { return std::fma(a, b, c); }
  static Value min(Value a, Value b) { return std::isnan(a) || std::isnan(b) ? kNan : std::fmin(a, b); }
  static Value max(Value a, Value b) { return std::isnan(a) || std::isnan(b) ? kNan : std::fmax(a, b); }
  static Mask lt(Value a, Value b) { return a < b; }
  static Mask le(Value a, Value b) { return a <= b; }
  static Mask eq(Value a, Value b) { return a == b; }
  static Mask same(Index a, Index b) { return a == b; }
  static Mask is_step(Index a, Index b) { return a == b; }
  static Mask is_negative(Value x) { return std::signbit(x); }
  static Value select(Mask c, Value a, Value b) { return c ? a : b; }
  static Value quiet(Value x) { return x; }
  static Value div(Value a, Value b) { return a / b; }
  static Value reciprocal(Value x) { return 1 / x; }
  static Value sqrt(Value x) { return std::sqrt(x); }
  static Value rsqrt(Value x) { return 1 / std::sqrt(x); }
  static Value exp(Value x) { return std::exp(x); }
  static Value log(Value x) { return std::log(x); }
  static Value tanh(Value x) { return std::tanh(x); }
  static Value erf(Value x) { return std::erf(x); }
  static Value sigmoid(Value x) { return 1 / (1 + std::exp(-x)); }
  static Value sin(Value x) { return std::sin(x); }
  static Value cos(Value x) { return std::cos(x); }
  static Value atan(Value x) { return std::atan(x); }
  static Value round(Value x) { return std::nearbyint(x) + 0.0; }

  static Value div_midrange(Value a, Value b) { return a / b; }
  static Value reciprocal_midrange(Value x) { return 1 / x; }
  static Value sqrt_midrange(Value x) { return std::sqrt(x); }
  static Value exp_midrange(Value x) { return std::exp(x); }
  static Value exp_below(Value x) { return std::exp(x); }
  static Value log_midrange(Value x) { return std::log(x); }

private:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
};

} // namespace gradweave::graph
