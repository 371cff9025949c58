// Sqrt, Reciprocal, Exp, Log, Erf and Abs, and those gradients that are ops of their own.
#include "graph/operators/activation/activation.hpp"

namespace gradweave::graph {
namespace {

struct SqrtRun {
  template <class A> static void run(Kernel<A> &k) {
    map_elements(k, [](auto x) { return A::sqrt(x); });
  }
};
struct SqrtGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_elements(k, [](auto dy, auto y) { return A::div(A::mul(dy, number<A>(0.5)), y); });
  }
};
struct ReciprocalRun {
  template <class A> static void run(Kernel<A> &k) {
    map_elements(k, [](auto x) { return A::reciprocal(x); });
  }
};
struct ReciprocalGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_elements(k, [](auto dy, auto y) { return A::mul(A::mul(dy, y), -y); });
  }
};
struct ExpRun {
  template <class A> static void run(Kernel<A> &k) {
    map_elements(k, [](auto x) { return A::exp(x); });
  }
};
struct LogRun {
  template <class A> static void run(Kernel<A> &k) {
    map_elements(k, [](auto x) { return A::log(x); });
  }
};
struct ErfRun {
  template <class A> static void run(Kernel<A> &k) {
    map_elements(k, [](auto x) { return A::erf(x); });
  }
};
struct ErfGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_elements(k, [](auto dy, auto x) {
      const auto slope = A::mul(A::exp_below(A::mul(-x, x)), number<A>(1.12837916709551257390)); // 2 / sqrt(pi)
      return A::mul(dy, slope);
    });
  }
};
struct AbsRun {
  template <class A> static void run(Kernel<A> &k) {
    map_elements(k, [](auto x) { return A::max(x, -x); });
  }
};
struct AbsGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_elements(k, [](auto dy, auto x) {
      const auto zero = number<A>(0);
      return A::select(A::lt(zero, x), dy, A::select(A::lt(x, zero), A::mul(dy, number<A>(-1)), zero));
    });
  }
};

void derive_exp(Derivation &d) { d.give(0, d.build.add("Mul", {d.gradient(), d.output(0)}, {}, d.name(0))); }
void derive_log(Derivation &d) { d.give(0, d.build.add("Div", {d.gradient(), d.input(0)}, {}, d.name(0))); }

unsigned erf_gradient_operations() { return 3 + function_cost::exp_below(); }
unsigned sqrt_gradient_operations() { return 1 + function_cost::divide(); }

/// Results of these are sums' readers' as much as activations.
Operator gives_sum(Operator op) {
  op.outputs[0].gives = Gives::kSum;
  return op;
}

} // namespace

std::vector<Operator> functions_operators() {
  Operator exp = activation<ExpRun, From::kOutput>("Exp", "e^x", operations_per_element<function_cost::exp>);
  exp.derive = derive_exp;
  Operator log =
      activation<LogRun, From::kInput>("Log", "the natural logarithm", operations_per_element<function_cost::log>);
  log.derive = derive_log;
  return {
      gives_sum(
          activation<SqrtRun, From::kOutput>("Sqrt", "the square root", operations_per_element<function_cost::sqrt>)),
      gives_sum(activation_gradient<SqrtGradientRun, From::kOutput>("SqrtGradient", "dy / (2 y)",
                                                                    operations_per_element<sqrt_gradient_operations>)),
      gives_sum(activation<ReciprocalRun, From::kOutput>("Reciprocal", "1 / x",
                                                         operations_per_element<function_cost::reciprocal>)),
      gives_sum(activation_gradient<ReciprocalGradientRun, From::kOutput>("ReciprocalGradient", "-dy y^2",
                                                                          operations_per_element<2>)),
      gives_sum(exp),
      gives_sum(log),
      activation<ErfRun, From::kInput>("Erf", "the error function", operations_per_element<function_cost::erf>),
      activation_gradient<ErfGradientRun, From::kInput>("ErfGradient", "dy 2 / sqrt(pi) e^(-x^2)",
                                                        operations_per_element<erf_gradient_operations>),
      gives_sum(activation<AbsRun, From::kInput>("Abs", "|x|", operations_per_element<1>)),
      gives_sum(activation_gradient<AbsGradientRun, From::kInput>(
          "AbsGradient", "dy with the sign of x, 0 where x is 0", operations_per_element<4>)),
  };
}

} // namespace gradweave::graph
