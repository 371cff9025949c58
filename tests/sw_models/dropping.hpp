// Arithmetic with one fault: the operation of a given index does not happen, and passes an operand on. Functions are
// shown to need each of their operations, and checks to see each missing one.
#pragma once

#include "sw_models/functions/fp32.hpp"

#include <cstdint>

namespace gradweave::functions {

class Dropping {
public:
  using Value = std::uint32_t;

  explicit Dropping(unsigned dropped) : dropped_(dropped) {}

  static Value constant(std::uint32_t bits) { return bits; }
  static Value neg(Value a) { return Fp32::neg(a); }
  static Value abs(Value a) { return Fp32::abs(a); }

  Value fma(Value a, Value b, Value c) { return drops() ? c : Fp32::fma(a, b, c); }
  Value add(Value a, Value b) { return drops() ? a : Fp32::add(a, b); }
  Value mul(Value a, Value b) { return drops() ? a : Fp32::mul(a, b); }
  Value min(Value a, Value b) { return drops() ? a : Fp32::min(a, b); }
  Value max(Value a, Value b) { return drops() ? a : Fp32::max(a, b); }
  Value lt(Value a, Value b) { return drops() ? 0 : Fp32::lt(a, b); }
  Value le(Value a, Value b) { return drops() ? 0 : Fp32::le(a, b); }
  Value eq(Value a, Value b) { return drops() ? 0 : Fp32::eq(a, b); }
  Value select(Value c, Value a, Value b) { return drops() ? b : Fp32::select(c, a, b); }
  Value iadd(Value a, Value b) { return drops() ? a : Fp32::iadd(a, b); }
  Value isub(Value a, Value b) { return drops() ? a : Fp32::isub(a, b); }
  Value band(Value a, Value b) { return drops() ? a : Fp32::band(a, b); }
  Value bor(Value a, Value b) { return drops() ? a : Fp32::bor(a, b); }
  Value bxor(Value a, Value b) { return drops() ? a : Fp32::bxor(a, b); }
  Value shl(Value a, unsigned by) { return drops() ? a : Fp32::shl(a, by); }
  Value shr(Value a, unsigned by) { return drops() ? a : Fp32::shr(a, by); }
  Value sra(Value a, unsigned by) { return drops() ? a : Fp32::sra(a, by); }

private:
  bool drops() { return next_++ == dropped_; }

  unsigned dropped_;
  unsigned next_ = 0;
};

} // namespace gradweave::functions
