// What entries of activation functions share: y = f(x), and dx = g(dy, x or y) in one op, which rounds once.
#pragma once

#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/function_cost.hpp"

#include <algorithm>

namespace gradweave::graph {

/// A block of elements in arrays of its own, which no pointer can alias, with all functions inlined: so long loops
/// become vectors.
template <typename V, typename F> [[gnu::flatten]] void map_block(const V *in, V *out, std::size_t count, F f) {
  constexpr std::size_t kBlock = 64;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t size = std::min(kBlock, count - begin);
    V values[kBlock] = {};
    std::copy_n(in + begin, size, values);
    for (V &value : values)
      value = f(value);
    std::copy_n(values, size, out + begin);
  }
}
template <typename V, typename F>
[[gnu::flatten]] void zip_block(const V *a, const V *b, V *out, std::size_t count, F f) {
  constexpr std::size_t kBlock = 64;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t size = std::min(kBlock, count - begin);
    V left[kBlock] = {}, right[kBlock] = {};
    std::copy_n(a + begin, size, left);
    std::copy_n(b + begin, size, right);
    for (std::size_t i = 0; i < kBlock; ++i)
      left[i] = f(left[i], right[i]);
    std::copy_n(left, size, out + begin);
  }
}

/// As map_elements() and zip_elements(), for functions of many operations.
template <class A, typename F> void map_function(Kernel<A> &k, F f) {
  if constexpr (kRecords<A>) {
    map_elements(k, f);
  } else {
    const auto *in = k.in(0);
    auto *out = k.out(0);
    k.parallel(k.out_shape(0).elements(), 40,
               [=](std::size_t begin, std::size_t end) { map_block(in + begin, out + begin, end - begin, f); });
  }
}
template <class A, typename F> void zip_function(Kernel<A> &k, F f) {
  if constexpr (kRecords<A>) {
    zip_elements(k, f);
  } else {
    const auto *a = k.in(0), *b = k.in(1);
    auto *out = k.out(0);
    k.parallel(k.out_shape(0).elements(), 40, [=](std::size_t begin, std::size_t end) {
      zip_block(a + begin, b + begin, out + begin, end - begin, f);
    });
  }
}

/// What a gradient is computed from besides dY.
enum class From { kInput, kOutput };

template <From from> void derive_activation(Derivation &d) {
  const TensorId other = from == From::kInput ? d.input(0) : d.output(0);
  d.give(0, d.build.add(std::string(d.op().type->name) + "Gradient", {d.gradient(), other}, d.attributes(), d.name(0)));
}

inline void infer_activation_gradient(Inference &op) {
  op.require(op.shape(0) == op.shape(1),
             "the shapes are " + op.shape(0).text() + " and " + op.shape(1).text() + "; they must be equal");
  op.set(0, op.shape(0));
}

using CountOperations = double (*)(const OpView &);

template <class Run, From from>
Operator activation(std::string_view name, std::string_view summary, CountOperations operations) {
  Operator op;
  op.name = name;
  op.summary = summary;
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.infer = infer_like_first;
  op.derive = derive_activation<from>;
  op.operations = operations;
  executes<Run>(op);
  return op;
}

template <class Run, From from>
Operator activation_gradient(std::string_view name, std::string_view summary, CountOperations operations) {
  Operator op;
  op.name = name;
  op.summary = summary;
  op.inputs = {{"dy"}, {from == From::kInput ? std::string_view("x") : std::string_view("y")}};
  op.outputs = {{"dx"}};
  op.infer = infer_activation_gradient;
  op.operations = operations;
  executes<Run>(op);
  return op;
}

} // namespace gradweave::graph
