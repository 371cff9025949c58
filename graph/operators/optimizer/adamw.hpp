// A step of AdamW for one element: a template over an arithmetic (graph/golden), of the contract, fp64, or recorded.
#pragma once

#include "graph/operators/loops/entry.hpp"

namespace gradweave::graph {

/// The next moments of an element, and what its weight's step is divided by.
template <class A> class AdamWMoments {
public:
  using Value = typename A::Value;
  struct Next {
    Value m, v, divisor;
  };

  /// Attributes beta1, beta2 and epsilon, each rounded once.
  explicit AdamWMoments(const Attributes &attributes)
      : keep_m_(number<A>(attributes.real("beta1"))), add_m_(number<A>(1 - attributes.real("beta1"))),
        keep_v_(number<A>(attributes.real("beta2"))), add_v_(number<A>(1 - attributes.real("beta2"))),
        epsilon_(number<A>(attributes.real("epsilon"))), is_midrange_(attributes.real("epsilon") >= kLeastMidrange) {}

  /// From the moments m and v and the gradient; `correct_v`: a constant of the step.
  [[gnu::always_inline]] Next next(Value m, Value v, Value gradient, Value correct_v) const {
    const Value mean = A::fma(keep_m_, m, A::mul(add_m_, gradient));
    const Value square = A::fma(keep_v_, v, A::mul(A::mul(add_v_, gradient), gradient));
    const Value below = A::mul(square, correct_v);
    return {mean, square, A::add(is_midrange_ ? A::sqrt_midrange(below) : A::sqrt(below), epsilon_)};
  }

  /// The step that a weight makes but for the rate, of its next moments; `correct_m`: a constant of the step.
  [[gnu::always_inline]] Value step(Value m, Value divisor, Value correct_m) const {
    const Value up = A::mul(m, correct_m);
    return is_midrange_ ? A::div_midrange(up, divisor) : A::div(up, divisor);
  }

private:
  /// 2^-27. What a divisor is at least is no less, and beside it a root below 2^-51 does not count.
  static constexpr double kLeastMidrange = 0x1p-27;

  Value keep_m_, add_m_, keep_v_, add_v_, epsilon_;
  bool is_midrange_;
};

/// The next weight. `decay`: the rate times the attribute weight_decay.
template <class A>
typename A::Value adamw_weight(typename A::Value w, typename A::Value step, typename A::Value rate,
                               typename A::Value decay) {
  return A::fma(-rate, step, A::fma(-decay, w, w));
}

} // namespace gradweave::graph
