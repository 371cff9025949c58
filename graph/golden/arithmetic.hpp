// The two arithmetics in which a graph is executed: that of the numeric contract, and fp64 to compare with.
#pragma once

#include "sw_models/numerics/numerics.hpp"

#include <cmath>
#include <cstddef>

namespace gradweave::graph {

/// fp32 operations of docs/numerics.md, bit by bit (N18, N19).
struct Contract {
  using Value = float;
  static Value add(Value a, Value b) { return canonical(a + b); }
  static Value sub(Value a, Value b) { return canonical(a - b); }
  static Value mul(Value a, Value b) { return canonical(a * b); }
  static Value fma(Value a, Value b, Value c) { return canonical(std::fmaf(a, b, c)); }
};

/// The same operations in double precision: real numbers, for all that it matters here.
struct Reference {
  using Value = double;
  static Value add(Value a, Value b) { return a + b; }
  static Value sub(Value a, Value b) { return a - b; }
  static Value mul(Value a, Value b) { return a * b; }
  static Value fma(Value a, Value b, Value c) { return std::fma(a, b, c); }
};

} // namespace gradweave::graph
