// What files of operators share.
#pragma once

#include "graph/build/derivation.hpp"
#include "graph/build/inference.hpp"
#include "graph/golden/kernel.hpp"
#include "graph/ir/operator.hpp"
#include "graph/operators/loops/recorded_lines.hpp"

#include <type_traits>

namespace gradweave::graph {

/// Sets both golden executions of an entry to instances of Run::run<A>(Kernel<A> &).
template <class Run> void executes_golden(Operator &op) {
  op.contract = &Run::template run<Contract>;
  op.reference = &Run::template run<Reference>;
}

/// The same, and the third instance, which is written down for the vector unit.
template <class Run> void executes(Operator &op) {
  executes_golden<Run>(op);
  op.recorded = &Run::template run<Recorded>;
}

template <class A> constexpr bool kRecords = std::is_same_v<A, Recorded>;

/// out[i] = f(in[i]).
template <class A, typename F> void map_elements(Kernel<A> &k, F f) {
  const std::size_t count = k.out_shape(0).elements();
  if constexpr (kRecords<A>) {
    record_elements(k, elements_walk(count, {input(0)}, {output(0)}), [&f](const auto &at) { at.out(0, f(at.in(0))); });
  } else {
    const auto *in = k.in(0);
    auto *out = k.out(0);
    k.parallel(count, 8, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        out[i] = f(in[i]);
    });
  }
}

/// out[i] = f(a[i], b[i]), both of the result's shape.
template <class A, typename F> void zip_elements(Kernel<A> &k, F f) {
  const std::size_t count = k.out_shape(0).elements();
  if constexpr (kRecords<A>) {
    record_elements(k, elements_walk(count, {input(0), input(1)}, {output(0)}),
                    [&f](const auto &at) { at.out(0, f(at.in(0), at.in(1))); });
  } else {
    const auto *a = k.in(0);
    const auto *b = k.in(1);
    auto *out = k.out(0);
    k.parallel(count, 8, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        out[i] = f(a[i], b[i]);
    });
  }
}

/// The result is as the first input.
inline void infer_like_first(Inference &op) { op.set(0, op.shape(0)); }

/// Of a result that is constant nearly everywhere: no gradient passes on, and what lies behind learns nothing from it.
inline void derive_nothing(Derivation & /*op*/) {}

/// So many fp32 operations for each element of the first output.
template <int PerElement> double operations_per_element(const OpView &op) {
  return PerElement * static_cast<double>(op.output(0).shape.elements());
}

/// So many for each element of the first input.
template <int PerElement> double operations_per_input(const OpView &op) {
  return PerElement * static_cast<double>(op.input(0).shape.elements());
}

/// Of what only moves elements.
inline double no_operations(const OpView &) { return 0; }

/// The same where the number is a function's, for it counts the operations of the functions in it (function_cost.hpp).
template <unsigned (*PerElement)()> double operations_per_element(const OpView &op) {
  return PerElement() * static_cast<double>(op.output(0).shape.elements());
}

/// A constant, rounded once to fp32 under the contract.
template <class A> constexpr typename A::Value number(double value) { return static_cast<typename A::Value>(value); }

template <Walk How> Lowering walks(const OpView &) { return {std::nullopt, How}; }

/// A real attribute as the arithmetic has it: rounded once to fp32 (N18) under the contract.
template <class A> typename A::Value real_attribute(const Kernel<A> &k, std::string_view name) {
  return static_cast<typename A::Value>(k.attributes().real(name));
}

} // namespace gradweave::graph
