#include "sw_models/vector/programs.hpp"

#include "sw_models/functions/circular.hpp"
#include "sw_models/functions/exponentials.hpp"
#include "sw_models/functions/random.hpp"
#include "sw_models/functions/roots.hpp"
#include "sw_models/functions/rounding.hpp"

namespace gradweave::vector {

const std::vector<FunctionProgram> &function_programs() {
  namespace f = functions;
  using V = Recorder::Value;
  static const std::vector<FunctionProgram> programs = {
      {"reciprocal", 1, [] { return unary_program([](Recorder &p, V x) { return f::reciprocal(p, x); }); }},
      {"rsqrt", 1, [] { return unary_program([](Recorder &p, V x) { return f::rsqrt(p, x); }); }},
      {"sqrt", 1, [] { return unary_program([](Recorder &p, V x) { return f::sqrt(p, x); }); }},
      {"exp", 1, [] { return unary_program([](Recorder &p, V x) { return f::exp(p, x); }); }},
      {"log", 1, [] { return unary_program([](Recorder &p, V x) { return f::log(p, x); }); }},
      {"tanh", 1, [] { return unary_program([](Recorder &p, V x) { return f::tanh(p, x); }); }},
      {"erf", 1, [] { return unary_program([](Recorder &p, V x) { return f::erf(p, x); }); }},
      {"sigmoid", 1, [] { return unary_program([](Recorder &p, V x) { return f::sigmoid(p, x); }); }},
      {"divide", 2, [] { return binary_program([](Recorder &p, V a, V b) { return f::divide(p, a, b); }); }},
      {"reciprocal_midrange", 1,
       [] { return unary_program([](Recorder &p, V x) { return f::reciprocal_midrange(p, x); }); }},
      {"rsqrt_midrange", 1, [] { return unary_program([](Recorder &p, V x) { return f::rsqrt_midrange(p, x); }); }},
      {"sqrt_midrange", 1, [] { return unary_program([](Recorder &p, V x) { return f::sqrt_midrange(p, x); }); }},
      {"exp_midrange", 1, [] { return unary_program([](Recorder &p, V x) { return f::exp_midrange(p, x); }); }},
      {"exp_below", 1, [] { return unary_program([](Recorder &p, V x) { return f::exp_below(p, x); }); }},
      {"log_midrange", 1, [] { return unary_program([](Recorder &p, V x) { return f::log_midrange(p, x); }); }},
      {"divide_midrange", 2,
       [] { return binary_program([](Recorder &p, V a, V b) { return f::divide_midrange(p, a, b); }); }},
      {"random_bits", 1,
       [] {
         return unary_program(
             [](Recorder &p, V x) { return f::random_bits(p, f::random_key(0x12345678, 0x9ABCDEF0, 0x0F1E2D3C), x); });
       }},
      {"sin", 1, [] { return unary_program([](Recorder &p, V x) { return f::sin(p, x); }); }},
      {"cos", 1, [] { return unary_program([](Recorder &p, V x) { return f::cos(p, x); }); }},
      {"atan", 1, [] { return unary_program([](Recorder &p, V x) { return f::atan(p, x); }); }},
      {"round", 1, [] { return unary_program([](Recorder &p, V x) { return f::round(p, x); }); }},
  };
  return programs;
}

} // namespace gradweave::vector
