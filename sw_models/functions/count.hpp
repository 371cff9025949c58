// Counts the operations of a function (fp32.hpp says what a policy is): the length of its program for the vector unit.
#pragma once

#include <cstdint>

namespace gradweave::functions {

class Count {
public:
  /// A modified value is what an operation reads; it stands in no register.
  struct Value {
    bool modified = false;
  };

  unsigned operations() const { return operations_; }

  static Value constant(std::uint32_t) { return {}; }
  static Value neg(Value) { return {true}; }
  static Value abs(Value) { return {true}; }

  Value fma(Value, Value, Value) { return count(); }
  Value add(Value, Value) { return count(); }
  Value mul(Value, Value) { return count(); }
  Value min(Value, Value) { return count(); }
  Value max(Value, Value) { return count(); }
  Value lt(Value, Value) { return count(); }
  Value le(Value, Value) { return count(); }
  Value eq(Value, Value) { return count(); }
  Value select(Value, Value, Value) { return count(); }
  Value iadd(Value, Value) { return count(); }
  Value isub(Value, Value) { return count(); }
  Value band(Value, Value) { return count(); }
  Value bor(Value, Value) { return count(); }
  Value bxor(Value, Value) { return count(); }
  Value shl(Value, unsigned) { return count(); }
  Value shr(Value, unsigned) { return count(); }
  Value sra(Value, unsigned) { return count(); }
  Value to_bf16(Value) { return count(); }

private:
  Value count() {
    ++operations_;
    return {};
  }

  unsigned operations_ = 0;
};

} // namespace gradweave::functions
