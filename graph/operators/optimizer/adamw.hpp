// A step of AdamW for one element: a template over an arithmetic (graph/golden), of the contract, fp64, or recorded.
#pragma once

#include "graph/operators/loops/entry.hpp"

namespace gradweave::graph {

/// What is the same for all elements.
template <class A> struct AdamWFactors {
  using Value = typename A::Value;

  /// `rate`, `correct_m`, `correct_v`: the constants of the step; `factor`: of the gradient. Attributes are rounded
  /// once; `decay` is the rate times the attribute.
  AdamWFactors(const Attributes &attributes, Value rate_, Value correct_m_, Value correct_v_, Value factor_,
               Value decay_)
      : rate(rate_), correct_m(correct_m_), correct_v(correct_v_), factor(factor_),
        keep_m(number<A>(attributes.real("beta1"))), add_m(number<A>(1 - attributes.real("beta1"))),
        keep_v(number<A>(attributes.real("beta2"))), add_v(number<A>(1 - attributes.real("beta2"))),
        epsilon(number<A>(attributes.real("epsilon"))), decay(decay_) {}

  Value rate, correct_m, correct_v, factor, keep_m, add_m, keep_v, add_v, epsilon, decay;
};

template <class A> struct AdamWElement { typename A::Value w, m, v; };

/// Of the next step, from w, m, v and the gradient g.
template <class A>
AdamWElement<A> adamw_step(const AdamWFactors<A> &f, const AdamWElement<A> &now, typename A::Value g) {
  const auto gradient = A::mul(g, f.factor);
  const auto mean = A::fma(f.keep_m, now.m, A::mul(f.add_m, gradient));
  const auto square = A::fma(f.keep_v, now.v, A::mul(A::mul(f.add_v, gradient), gradient));
  const auto step = A::div(A::mul(mean, f.correct_m), A::add(A::sqrt(A::mul(square, f.correct_v)), f.epsilon));
  return {A::fma(-f.rate, step, A::fma(-f.decay, now.w, now.w)), mean, square};
}

} // namespace gradweave::graph
