// Arithmetic on what is known.
#include "graph/onnx/fold/fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradweave::graph::onnx {
namespace {

/// Whole numbers wrap where they overflow, as those of an exporter's own arithmetic do.
std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::uint64_t result = 1;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(exponent, 64); ++i)
    result *= bits(base);
  return wrapped(result);
}

/// Both operands, repeated to one shape.
struct Pair {
  explicit Pair(const FoldInputs &in) : a(in.at(0)), b(in.at(1)), dims(broadcast_dims(in.node, a.dims, b.dims)) {
    if (a.is_real() != b.is_real()) in.node.fail("one input is real and the other is not");
    checked_elements(in.node, dims);
    from_a = places(dims, repeated_steps(a.dims, dims));
    from_b = places(dims, repeated_steps(b.dims, dims));
  }

  template <class Whole, class Real> Literal computed(Whole whole, Real real) const {
    Literal result{a.type, dims};
    for (std::size_t i = 0; i < from_a.size(); ++i)
      if (a.is_real())
        result.real.push_back(rounded_to(a.type, real(a.real[from_a[i]], b.real[from_b[i]])));
      else
        result.whole.push_back(whole(a.whole[from_a[i]], b.whole[from_b[i]]));
    return result;
  }

  template <class Holds> Literal compared(Holds holds) const {
    Literal result{DataType::kBool, dims};
    for (std::size_t i = 0; i < from_a.size(); ++i)
      result.whole.push_back(a.is_real() ? holds(a.real[from_a[i]], b.real[from_b[i]])
                                         : holds(a.whole[from_a[i]], b.whole[from_b[i]]));
    return result;
  }

  const Literal &a, &b;
  std::vector<std::int64_t> dims;
  std::vector<std::size_t> from_a, from_b;
};

Literal fold_add(const FoldInputs &in) {
  return Pair(in).computed([](auto a, auto b) { return wrapped(bits(a) + bits(b)); },
                           [](double a, double b) { return a + b; });
}
Literal fold_sub(const FoldInputs &in) {
  return Pair(in).computed([](auto a, auto b) { return wrapped(bits(a) - bits(b)); },
                           [](double a, double b) { return a - b; });
}
Literal fold_mul(const FoldInputs &in) {
  return Pair(in).computed([](auto a, auto b) { return wrapped(bits(a) * bits(b)); },
                           [](double a, double b) { return a * b; });
}
std::int64_t by_zero(const FoldInputs &in) {
  if (!in.sample) in.node.fail("divides by 0");
  return 0;
}

Literal fold_div(const FoldInputs &in) {
  return Pair(in).computed(
      [&in](std::int64_t a, std::int64_t b) {
        if (b == 0) return by_zero(in);
        return b == -1 ? wrapped(0 - bits(a)) : a / b;
      },
      [](double a, double b) { return a / b; });
}
Literal fold_mod(const FoldInputs &in) {
  return Pair(in).computed(
      [&in](std::int64_t a, std::int64_t b) -> std::int64_t {
        if (b == 0) return by_zero(in);
        if (b == -1) return 0;
        const std::int64_t left = a % b;
        // As Python has it, unless fmod asks for C's.
        return in.node.integer("fmod", 0) == 0 && left != 0 && (left < 0) != (b < 0) ? left + b : left;
      },
      [](double a, double b) { return std::fmod(a, b); });
}
Literal fold_min(const FoldInputs &in) {
  return Pair(in).computed([](auto a, auto b) { return std::min(a, b); },
                           [](double a, double b) { return std::fmin(a, b); });
}
Literal fold_max(const FoldInputs &in) {
  return Pair(in).computed([](auto a, auto b) { return std::max(a, b); },
                           [](double a, double b) { return std::fmax(a, b); });
}
Literal fold_equal(const FoldInputs &in) {
  return Pair(in).compared([](auto a, auto b) { return a == b; });
}
Literal fold_less(const FoldInputs &in) {
  return Pair(in).compared([](auto a, auto b) { return a < b; });
}
Literal fold_less_or_equal(const FoldInputs &in) {
  return Pair(in).compared([](auto a, auto b) { return a <= b; });
}
Literal fold_greater(const FoldInputs &in) {
  return Pair(in).compared([](auto a, auto b) { return a > b; });
}
Literal fold_greater_or_equal(const FoldInputs &in) {
  return Pair(in).compared([](auto a, auto b) { return a >= b; });
}
Literal fold_and(const FoldInputs &in) {
  return Pair(in).compared([](auto a, auto b) { return a != 0 && b != 0; });
}
Literal fold_or(const FoldInputs &in) {
  return Pair(in).compared([](auto a, auto b) { return a != 0 || b != 0; });
}

Literal fold_xor(const FoldInputs &in) {
  return Pair(in).compared([](auto a, auto b) { return (a != 0) != (b != 0); });
}

Literal fold_pow(const FoldInputs &in) {
  const Literal &a = in.at(0), &b = in.at(1);
  const std::vector<std::int64_t> dims = broadcast_dims(in.node, a.dims, b.dims);
  checked_elements(in.node, dims);
  const auto from_a = places(dims, repeated_steps(a.dims, dims)), from_b = places(dims, repeated_steps(b.dims, dims));
  Literal result{a.type, dims};
  for (std::size_t i = 0; i < from_a.size(); ++i)
    if (a.is_real())
      result.real.push_back(rounded_to(a.type, std::pow(a.real[from_a[i]], b.number(from_b[i]))));
    else if (const double exponent = b.number(from_b[i]); exponent >= 0)
      result.whole.push_back(power(a.whole[from_a[i]], static_cast<std::int64_t>(std::min(exponent, 64.0))));
    else
      in.node.fail("a whole number to a power below 0");
  return result;
}

template <class Whole, class Real> Literal each(const FoldInputs &in, Whole whole, Real real) {
  Literal result = in.at(0);
  for (std::int64_t &value : result.whole)
    value = whole(value);
  for (double &value : result.real)
    value = rounded_to(result.type, real(value));
  return result;
}

std::int64_t same(std::int64_t value) { return value; }

Literal fold_neg(const FoldInputs &in) {
  return each(
      in, [](std::int64_t v) { return wrapped(0 - bits(v)); }, [](double v) { return -v; });
}
Literal fold_abs(const FoldInputs &in) {
  return each(
      in, [](std::int64_t v) { return v < 0 ? wrapped(0 - bits(v)) : v; }, [](double v) { return std::abs(v); });
}
Literal fold_not(const FoldInputs &in) {
  return each(
      in, [](std::int64_t v) { return std::int64_t{v == 0}; }, [](double v) { return v; });
}
Literal fold_sign(const FoldInputs &in) {
  return each(
      in, [](std::int64_t v) { return std::int64_t{v > 0} - std::int64_t{v < 0}; },
      [](double v) { return v > 0   ? 1.0
                            : v < 0 ? -1.0
                                    : v; });
}
Literal fold_floor(const FoldInputs &in) {
  return each(in, same, [](double v) { return std::floor(v); });
}
Literal fold_ceil(const FoldInputs &in) {
  return each(in, same, [](double v) { return std::ceil(v); });
}
Literal fold_round(const FoldInputs &in) {
  return each(in, same, [](double v) { return std::nearbyint(v); });
}
Literal fold_sqrt(const FoldInputs &in) {
  return each(in, same, [](double v) { return std::sqrt(v); });
}
Literal fold_reciprocal(const FoldInputs &in) {
  return each(in, same, [](double v) { return 1 / v; });
}
Literal fold_exp(const FoldInputs &in) {
  return each(in, same, [](double v) { return std::exp(v); });
}
Literal fold_log(const FoldInputs &in) {
  return each(in, same, [](double v) { return std::log(v); });
}
Literal fold_sin(const FoldInputs &in) {
  return each(in, same, [](double v) { return std::sin(v); });
}
Literal fold_cos(const FoldInputs &in) {
  return each(in, same, [](double v) { return std::cos(v); });
}

Literal fold_clip(const FoldInputs &in) {
  const auto bound = [&in](std::size_t input, const char *attribute, double none) {
    if (!in.has(input)) return in.node.real(attribute, none);
    if (in.at(input).size() != 1) in.node.fail(fmt::format("input {} must be a single number", input));
    return in.at(input).number(0);
  };
  constexpr double kWhole = 9.2e18; // within 64 bits
  const double low = bound(1, "min", -HUGE_VAL), high = bound(2, "max", HUGE_VAL);
  return each(
      in,
      [=](std::int64_t v) {
        if (static_cast<double>(v) < low) return static_cast<std::int64_t>(std::min(low, kWhole));
        return static_cast<double>(v) > high ? static_cast<std::int64_t>(std::max(high, -kWhole)) : v;
      },
      [=](double v) { return std::min(std::max(v, low), high); });
}

/// What does not fit is moved to the edge: slices end at the largest of numbers.
std::int64_t whole_of(const FoldInputs &in, double value, DataType to) {
  if (std::isnan(value)) in.node.fail("casts what is no number to a whole one");
  const double most = to == DataType::kInt32 ? 2147483647.0 : 9223372036854774784.0;
  return static_cast<std::int64_t>(std::clamp(value, -most, most));
}

Literal fold_cast(const FoldInputs &in) {
  const Literal &x = in.at(0);
  Literal result{static_cast<DataType>(in.node.integer("to", 0)), x.dims};
  if (bytes_of(result.type) == 0)
    in.node.fail(fmt::format("attribute 'to' is {}, which is not read", to_string(result.type)));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (result.is_real())
      result.real.push_back(rounded_to(result.type, x.number(i)));
    else if (result.type == DataType::kBool)
      result.whole.push_back(x.number(i) != 0);
    else
      result.whole.push_back(x.is_real() ? whole_of(in, x.real[i], result.type) : x.whole[i]);
  }
  return result;
}

} // namespace

const std::vector<NamedFolder> &arithmetic_folders() {
  static const std::vector<NamedFolder> all = {
      {"Add", fold_add},
      {"Sub", fold_sub},
      {"Mul", fold_mul},
      {"Div", fold_div},
      {"Mod", fold_mod},
      {"Min", fold_min},
      {"Max", fold_max},
      {"Pow", fold_pow},
      {"Equal", fold_equal},
      {"Less", fold_less},
      {"LessOrEqual", fold_less_or_equal},
      {"Greater", fold_greater},
      {"GreaterOrEqual", fold_greater_or_equal},
      {"And", fold_and},
      {"Or", fold_or},
      {"Xor", fold_xor},
      {"Sign", fold_sign},
      {"Not", fold_not},
      {"Neg", fold_neg},
      {"Abs", fold_abs},
      {"Floor", fold_floor},
      {"Ceil", fold_ceil},
      {"Round", fold_round},
      {"Sqrt", fold_sqrt},
      {"Reciprocal", fold_reciprocal},
      {"Exp", fold_exp},
      {"Log", fold_log},
      {"Sin", fold_sin},
      {"Cos", fold_cos},
      {"Cast", fold_cast},
      {"Clip", fold_clip},
  };
  return all;
}

} // namespace gradweave::graph::onnx
