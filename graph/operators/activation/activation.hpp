// What entries of activation functions share: y = f(x), and dx = g(dy, x or y) in one op, which rounds once.
#pragma once

#include "graph/operators/entry.hpp"
#include "graph/operators/function_cost.hpp"

namespace gradweave::graph {

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
