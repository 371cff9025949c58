// Programs of functions on many inputs, beside the functions themselves.
#pragma once

#include "base/random/dice.hpp"
#include "isa/vector/program.hpp"
#include "sw_models/functions/functions.hpp"
#include "sw_models/numerics/numerics.hpp"
#include "sw_models/vector/interpreter.hpp"
#include "sw_models/vector/programs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace gradweave::vector {

using Elements = std::vector<std::uint32_t>;

/// o0 of a program whose only section is a loop, for every element of t0 (and t1).
inline Elements run_program(const isa::vector::Program &program, const Elements &t0, const Elements &t1) {
  Execution x;
  x.lanes = 64;
  x.steps = static_cast<std::uint32_t>((t0.size() + x.lanes - 1) / x.lanes);
  Elements result(std::size_t{x.steps} * x.lanes);
  x.read = [&](const LinePlace &at, std::uint32_t *line) {
    const Elements &from = at.tile == 0 ? t0 : t1;
    const std::size_t begin = std::size_t{at.step} * x.lanes;
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin), std::min<std::size_t>(x.lanes, from.size() - begin),
                line);
  };
  x.write = [&](const LinePlace &at, const std::uint32_t *line) {
    std::copy_n(line, x.lanes, result.begin() + static_cast<std::ptrdiff_t>(std::size_t{at.step} * x.lanes));
  };
  interpret(program, x);
  result.resize(t0.size());
  return result;
}

/// What each program of function_programs() has to give, by its name: a template on bits.
using Golden = std::uint32_t (*)(functions::Fp32 &p, std::uint32_t a, std::uint32_t b);
inline Golden golden_of(std::string_view name) {
  namespace f = functions;
  using F = f::Fp32;
  using W = std::uint32_t;
  static const std::map<std::string_view, Golden> goldens = {
      {"reciprocal", [](F &p, W a, W) { return f::reciprocal(p, a); }},
      {"rsqrt", [](F &p, W a, W) { return f::rsqrt(p, a); }},
      {"sqrt", [](F &p, W a, W) { return f::sqrt(p, a); }},
      {"exp", [](F &p, W a, W) { return f::exp(p, a); }},
      {"log", [](F &p, W a, W) { return f::log(p, a); }},
      {"tanh", [](F &p, W a, W) { return f::tanh(p, a); }},
      {"erf", [](F &p, W a, W) { return f::erf(p, a); }},
      {"sigmoid", [](F &p, W a, W) { return f::sigmoid(p, a); }},
      {"divide", [](F &p, W a, W b) { return f::divide(p, a, b); }},
      {"reciprocal_midrange", [](F &p, W a, W) { return f::reciprocal_midrange(p, a); }},
      {"rsqrt_midrange", [](F &p, W a, W) { return f::rsqrt_midrange(p, a); }},
      {"sqrt_midrange", [](F &p, W a, W) { return f::sqrt_midrange(p, a); }},
      {"exp_midrange", [](F &p, W a, W) { return f::exp_midrange(p, a); }},
      {"exp_below", [](F &p, W a, W) { return f::exp_below(p, a); }},
      {"log_midrange", [](F &p, W a, W) { return f::log_midrange(p, a); }},
      {"divide_midrange", [](F &p, W a, W b) { return f::divide_midrange(p, a, b); }},
      {"random_bits",
       [](F &p, W a, W) { return f::random_bits(p, f::random_key(0x12345678, 0x9ABCDEF0, 0x0F1E2D3C), a); }},
      {"sin", [](F &p, W a, W) { return f::sin(p, a); }},
      {"cos", [](F &p, W a, W) { return f::cos(p, a); }},
      {"atan", [](F &p, W a, W) { return f::atan(p, a); }},
      {"round", [](F &p, W a, W) { return f::round(p, a); }},
  };
  return goldens.at(name);
}

/// Zeros, infinities, NaNs, all powers of two and their neighbours, ends of subnormals, of both signs.
inline Elements special_inputs() {
  Elements inputs = {0x7F800001U, 0x7FC00000U, 0x7FC12345U, 0x7FFFFFFFU};
  for (std::uint32_t exponent = 0; exponent <= 255; ++exponent)
    for (const std::uint32_t offset : {~0U, 0U, 1U, 2U, 0x400000U})
      inputs.push_back(((exponent << 23U) + offset) & 0x7FFFFFFFU);
  for (std::uint32_t subnormal = 1; subnormal < 0x800000U; subnormal *= 2)
    inputs.push_back(subnormal);
  for (std::size_t i = 0, positive = inputs.size(); i < positive; ++i)
    inputs.push_back(inputs[i] | 0x80000000U);
  return inputs;
}

/// The special ones, then random ones: half any bits, half of exponents near 1, where functions bend.
inline Elements mixed_inputs(std::size_t count, Dice &dice) {
  Elements inputs = special_inputs();
  inputs.reserve(inputs.size() + count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint32_t>(dice.bits());
    inputs.push_back(i % 2 == 0 ? bits : (bits & 0x87FFFFFFU) + 0x3C000000U);
  }
  return inputs;
}

/// How many of the elements are other bits than golden; the first in `example`.
inline std::size_t differences(std::string_view name, const Elements &got, const Elements &t0, const Elements &t1,
                               std::size_t &example) {
  const Golden golden = golden_of(name);
  functions::Fp32 p;
  std::size_t bad = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != golden(p, t0[i], t1[i]) && bad++ == 0) example = i;
  return bad;
}

} // namespace gradweave::vector
