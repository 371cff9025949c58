// log(1 + e), from functions of the contract.
#pragma once

#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/function_cost.hpp"

namespace gradweave::graph {

/// For e from 0 to 1. What 1 + e loses in rounding is e - ((1 + e) - 1), exactly; it comes back as a first order.
template <class A> typename A::Value log_of_one_and(typename A::Value e) {
  const auto sum = A::add(number<A>(1), e);
  const auto lost = A::sub(e, A::sub(sum, number<A>(1)));
  return A::fma(lost, A::reciprocal_midrange(sum), A::log_midrange(sum));
}

/// log(1 + e^x).
template <class A> typename A::Value soft_plus(typename A::Value x) {
  const auto below = A::min(x, -x); // -|x|
  return A::add(A::max(x, number<A>(0)), log_of_one_and<A>(A::exp_below(below)));
}

inline unsigned soft_plus_operations() {
  return 7 + function_cost::exp_below() + function_cost::log_midrange() + function_cost::reciprocal_midrange();
}

} // namespace gradweave::graph
