// The third arithmetic: an operator's function of elements, executed in it, is written down as a program of the vector
// unit, which gives the bits of the contract's arithmetic (arithmetic.hpp).
#pragma once

#include "sw_models/functions/circular.hpp"
#include "sw_models/functions/exponentials.hpp"
#include "sw_models/functions/fp32.hpp"
#include "sw_models/functions/random.hpp"
#include "sw_models/functions/roots.hpp"
#include "sw_models/functions/rounding.hpp"
#include "sw_models/numerics/numerics.hpp"
#include "sw_models/vector/recorder.hpp"

namespace gradweave::graph {

struct Recorded {
  /// A number, or what the recorder will compute.
  class Value {
  public:
    using Result = vector::Recorder::Value;
    explicit Value(double number) : value_(vector::Recorder::constant(bits_of_fp32(static_cast<float>(number)))) {}
    explicit Value(Result value) : value_(value) {}
    /// A whole number as its bits.
    static Value index(std::int32_t number) {
      return Value(vector::Recorder::constant(static_cast<std::uint32_t>(number)));
    }
    Value operator-() const { return Value(vector::Recorder::neg(value_)); }
    const Result &recorded() const { return value_; }

  private:
    Result value_;
  };

  using Mask = Value;  ///< its bit 31 decides
  using Index = Value; ///< a whole number's bits

  static Mask lt(Value a, Value b) {
    return apply([](auto &p, auto x, auto y) { return p.lt(x, y); }, a, b);
  }
  static Mask le(Value a, Value b) {
    return apply([](auto &p, auto x, auto y) { return p.le(x, y); }, a, b);
  }
  static Mask eq(Value a, Value b) {
    return apply([](auto &p, auto x, auto y) { return p.eq(x, y); }, a, b);
  }
  /// Of whole numbers that do not differ in bit 31 alone: their difference as an fp32 would be -0.
  static Mask same(Index a, Index b) {
    return eq(apply([](auto &p, auto x, auto y) { return p.bxor(x, y); }, a, b), Value(0));
  }
  /// b's bits, as those of an fp32, are no NaN and not -0, so that one comparison does.
  static Mask is_step(Index a, Index b) { return eq(a, b); }
  static Mask is_negative(Value x) { return x; }
  /// Of a whole number that is not 0: its sign or that of its negative.
  static Mask is_set(Index x) {
    return apply(
        [](auto &p, auto v) {
          const auto negative = p.isub(p.constant(0), v);
          return p.bor(v, negative);
        },
        x);
  }
  /// Of whole numbers, modulo 2^32.
  static Index iadd(Index a, Index b) {
    return apply([](auto &p, auto x, auto y) { return p.iadd(x, y); }, a, b);
  }
  static Index shl(Index x, unsigned by) {
    return apply([by](auto &p, auto v) { return p.shl(v, by); }, x);
  }
  /// Whether an element is kept (N20): `threshold` is functions::keep_threshold()'s.
  static Mask keep(Index seed, Index step, std::uint32_t tensor, Index element, std::uint32_t threshold) {
    return apply(
        [=](auto &p, auto first, auto second, auto at) {
          const auto key = functions::random_key(p, first, second, tensor);
          return functions::keep(p, key, at, threshold);
        },
        seed, step, element);
  }
  static Value select(Mask c, Value a, Value b) {
    return apply([](auto &p, auto x, auto y, auto z) { return p.select(x, y, z); }, c, a, b);
  }
  static Value quiet(Value x) { return max(x, x); }

  static Value add(Value a, Value b) {
    return apply([](auto &p, auto x, auto y) { return p.add(x, y); }, a, b);
  }
  static Value sub(Value a, Value b) { return add(a, -b); }
  static Value mul(Value a, Value b) {
    return apply([](auto &p, auto x, auto y) { return p.mul(x, y); }, a, b);
  }
  static Value fma(Value a, Value b, Value c) {
    return apply([](auto &p, auto x, auto y, auto z) { return p.fma(x, y, z); }, a, b, c);
  }
  static Value min(Value a, Value b) {
    return apply([](auto &p, auto x, auto y) { return p.min(x, y); }, a, b);
  }
  static Value max(Value a, Value b) {
    return apply([](auto &p, auto x, auto y) { return p.max(x, y); }, a, b);
  }
  static Value div(Value a, Value b) {
    return apply([](auto &p, auto x, auto y) { return functions::divide(p, x, y); }, a, b);
  }
  static Value reciprocal(Value x) {
    return apply([](auto &p, auto v) { return functions::reciprocal(p, v); }, x);
  }
  static Value sqrt(Value x) {
    return apply([](auto &p, auto v) { return functions::sqrt(p, v); }, x);
  }
  static Value rsqrt(Value x) {
    return apply([](auto &p, auto v) { return functions::rsqrt(p, v); }, x);
  }
  static Value exp(Value x) {
    return apply([](auto &p, auto v) { return functions::exp(p, v); }, x);
  }
  static Value log(Value x) {
    return apply([](auto &p, auto v) { return functions::log(p, v); }, x);
  }
  static Value tanh(Value x) {
    return apply([](auto &p, auto v) { return functions::tanh(p, v); }, x);
  }
  static Value erf(Value x) {
    return apply([](auto &p, auto v) { return functions::erf(p, v); }, x);
  }
  static Value sigmoid(Value x) {
    return apply([](auto &p, auto v) { return functions::sigmoid(p, v); }, x);
  }
  static Value sin(Value x) {
    return apply([](auto &p, auto v) { return functions::sin(p, v); }, x);
  }
  static Value cos(Value x) {
    return apply([](auto &p, auto v) { return functions::cos(p, v); }, x);
  }
  static Value atan(Value x) {
    return apply([](auto &p, auto v) { return functions::atan(p, v); }, x);
  }
  static Value round(Value x) {
    return apply([](auto &p, auto v) { return functions::round(p, v); }, x);
  }

  /// Functions with fewer operations, of numbers in the ranges that roots.hpp and exponentials.hpp name.
  static Value div_midrange(Value a, Value b) {
    return apply([](auto &p, auto x, auto y) { return functions::divide_midrange(p, x, y); }, a, b);
  }
  static Value reciprocal_midrange(Value x) {
    return apply([](auto &p, auto v) { return functions::reciprocal_midrange(p, v); }, x);
  }
  static Value sqrt_midrange(Value x) {
    return apply([](auto &p, auto v) { return functions::sqrt_midrange(p, v); }, x);
  }
  static Value exp_midrange(Value x) {
    return apply([](auto &p, auto v) { return functions::exp_midrange(p, v); }, x);
  }
  static Value exp_below(Value x) {
    return apply([](auto &p, auto v) { return functions::exp_below(p, v); }, x);
  }
  static Value log_midrange(Value x) {
    return apply([](auto &p, auto v) { return functions::log_midrange(p, v); }, x);
  }

private:
  /// Of numbers alone it is a number, by the contract's arithmetic.
  template <class Sequence, class... Values> static Value apply(Sequence sequence, Values... values) {
    vector::Recorder *recorder = nullptr;
    for (vector::Recorder *of : {values.recorded().recorder...})
      recorder = of != nullptr ? of : recorder;
    if (recorder != nullptr) return Value(sequence(*recorder, values.recorded()...));
    functions::Fp32 policy;
    return Value(vector::Recorder::constant(sequence(policy, values.recorded().number...)));
  }
};

} // namespace gradweave::graph
