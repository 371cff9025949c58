#include "memory_model/iteration/ways_back.hpp"

#include "graph/ir/derivation.hpp"

namespace gradweave::memory_model {
namespace {

void derive_by_result(graph::Derivation &d) {
  d.give(0, d.build.add("ReluGradient", {d.gradient(), d.output(0)}, {}, d.name(0)));
}

void derive_by_input(graph::Derivation &d) { d.give(0, d.build.add("Mul", {d.gradient(), d.input(0)}, {}, d.name(0))); }

/// Of a sum of equal shapes; one that broadcasts is left as it is.
void derive_copies(graph::Derivation &d) {
  for (std::size_t i = 0; i < 2; ++i)
    if (d.wants(i)) d.give(i, d.build.add("Scale", {d.gradient()}, {{"value", 1.0}}, d.name(i)));
}

bool broadcasts(const graph::Graph &graph, const graph::Op &op) {
  return op.inputs.size() == 2 && graph.tensors[op.inputs[0]].shape != graph.tensors[op.inputs[1]].shape;
}

} // namespace

WaysBack::WaysBack(const graph::OperatorSet &operators, bool as_layers) {
  const auto replace = [&](std::string_view name, void (*derive)(graph::Derivation &)) {
    replaced_.push_back(*operators.find(name));
    replaced_.back().derive = derive;
  };
  replace("Clip", derive_by_result);
  if (!as_layers) return;
  replace("Dropout", derive_by_input);
  replace("Add", derive_copies);
}

void WaysBack::apply(graph::Graph &graph) const {
  for (graph::Op &op : graph.ops)
    for (const graph::Operator &replaced : replaced_)
      if (op.type->name == replaced.name && !broadcasts(graph, op)) op.type = &replaced;
}

} // namespace gradweave::memory_model
