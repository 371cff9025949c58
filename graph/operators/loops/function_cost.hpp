// How many operations the functions of the contract take (N19), for the counts of operators that call them.
#pragma once

#include "sw_models/functions/circular.hpp"
#include "sw_models/functions/count.hpp"
#include "sw_models/functions/exponentials.hpp"
#include "sw_models/functions/roots.hpp"
#include "sw_models/functions/rounding.hpp"

namespace gradweave::graph::function_cost {

template <class Sequence> unsigned operations_of(Sequence sequence) {
  functions::Count policy;
  sequence(policy, functions::Count::Value{});
  return policy.operations();
}

inline unsigned reciprocal() {
  return operations_of([](auto &p, auto x) { functions::reciprocal(p, x); });
}
inline unsigned reciprocal_midrange() {
  return operations_of([](auto &p, auto x) { functions::reciprocal_midrange(p, x); });
}
inline unsigned divide() {
  return operations_of([](auto &p, auto x) { functions::divide(p, x, x); });
}
inline unsigned divide_midrange() {
  return operations_of([](auto &p, auto x) { functions::divide_midrange(p, x, x); });
}
inline unsigned sqrt_midrange() {
  return operations_of([](auto &p, auto x) { functions::sqrt_midrange(p, x); });
}
inline unsigned sqrt() {
  return operations_of([](auto &p, auto x) { functions::sqrt(p, x); });
}
inline unsigned rsqrt() {
  return operations_of([](auto &p, auto x) { functions::rsqrt(p, x); });
}
inline unsigned exp() {
  return operations_of([](auto &p, auto x) { functions::exp(p, x); });
}
inline unsigned exp_below() {
  return operations_of([](auto &p, auto x) { functions::exp_below(p, x); });
}
inline unsigned exp_midrange() {
  return operations_of([](auto &p, auto x) { functions::exp_midrange(p, x); });
}
inline unsigned log_midrange() {
  return operations_of([](auto &p, auto x) { functions::log_midrange(p, x); });
}
inline unsigned log() {
  return operations_of([](auto &p, auto x) { functions::log(p, x); });
}
inline unsigned tanh() {
  return operations_of([](auto &p, auto x) { functions::tanh(p, x); });
}
inline unsigned erf() {
  return operations_of([](auto &p, auto x) { functions::erf(p, x); });
}
inline unsigned sigmoid() {
  return operations_of([](auto &p, auto x) { functions::sigmoid(p, x); });
}
inline unsigned sin() {
  return operations_of([](auto &p, auto x) { functions::sin(p, x); });
}
inline unsigned cos() {
  return operations_of([](auto &p, auto x) { functions::cos(p, x); });
}
inline unsigned atan() {
  return operations_of([](auto &p, auto x) { functions::atan(p, x); });
}
inline unsigned round() {
  return operations_of([](auto &p, auto x) { functions::round(p, x); });
}

} // namespace gradweave::graph::function_cost
