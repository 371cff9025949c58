// The functions of the contract (N19, N20) as programs of the vector unit, recorded from the templates of
// sw_models/functions: o0 = f(t0), or f(t0, t1), once a step.
#pragma once

#include "sw_models/vector/recorder.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace gradweave::vector {

struct FunctionProgram {
  std::string_view name;
  unsigned tiles; ///< how many it reads
  isa::vector::Program (*program)();
};

/// reciprocal, rsqrt, sqrt, exp, log, tanh, erf, sigmoid, divide; the short forms of docs/functions.md, with _midrange
/// behind their names; random_bits of the element whose index t0 is, for one key.
const std::vector<FunctionProgram> &function_programs();

/// The program of a function of t0: `f` is called with the recorder and a value, and gives a value.
template <typename F> isa::vector::Program unary_program(F f) {
  Recorder recorder;
  recorder.loop();
  recorder.output(0, f(recorder, recorder.tile(0)));
  return recorder.program();
}

/// The same of t0 and t1.
template <typename F> isa::vector::Program binary_program(F f) {
  Recorder recorder;
  recorder.loop();
  recorder.output(0, f(recorder, recorder.tile(0), recorder.tile(1)));
  return recorder.program();
}

} // namespace gradweave::vector
