// Operators of elements as programs of the vector unit, from the templates of their golden execution.
#pragma once

#include "graph/golden/arithmetic.hpp"
#include "graph/golden/recorded.hpp"
#include "graph/operators/activation/gelu.hpp"
#include "sw_models/vector/programs.hpp"

#include <cstdint>

namespace gradweave::graph {

/// o0 = Gelu(t0), of the kind that the template says.
template <class Gelu> isa::vector::Program gelu_program() {
  return vector::unary_program(
      [](auto &, vector::Recorder::Value x) { return Gelu::template value<Recorded>(Recorded::Value(x)).recorded(); });
}

/// o0 = t0 times the derivative of Gelu at t1.
template <class Gelu> isa::vector::Program gelu_gradient_program() {
  return vector::binary_program([](auto &, vector::Recorder::Value dy, vector::Recorder::Value x) {
    return Recorded::mul(Recorded::Value(dy), Gelu::template slope<Recorded>(Recorded::Value(x))).recorded();
  });
}

/// The same on bits, by the contract's arithmetic.
template <class Gelu> std::uint32_t golden_gelu(std::uint32_t x) {
  return bits_of_fp32(Gelu::template value<Contract>(fp32_from_bits(x)));
}
template <class Gelu> std::uint32_t golden_gelu_gradient(std::uint32_t dy, std::uint32_t x) {
  return bits_of_fp32(Contract::mul(fp32_from_bits(dy), Gelu::template slope<Contract>(fp32_from_bits(x))));
}

} // namespace gradweave::graph
