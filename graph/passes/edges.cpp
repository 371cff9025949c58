#include "graph/passes/edges.hpp"

#include "graph/build/builder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph {
namespace {

const InputSpec &spec_of(const Op &op, std::size_t i) {
  return op.type->inputs[std::min(i, op.type->inputs.size() - 1)];
}

Gives gives(const Op &op, std::size_t o) { return op.type->outputs[std::min(o, op.type->outputs.size() - 1)].gives; }

/// Of each tensor, whether a reader takes it as a sum. What passes values on wants what its own readers want.
std::vector<bool> wanted_sums(const Graph &graph) {
  std::vector<bool> wanted(graph.tensors.size());
  for (OpId id = static_cast<OpId>(graph.ops.size()); id-- > 0;) {
    const Op &op = graph.ops[id];
    bool passes_on = false;
    for (std::size_t o = 0; o < op.outputs.size(); ++o)
      if (op.outputs[o] != kNone && gives(op, o) == Gives::kAsInput && wanted[op.outputs[o]]) passes_on = true;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] == kNone) continue;
      const Takes takes = spec_of(op, i).takes;
      if (takes == Takes::kSum || takes == Takes::kFp32 || (passes_on && takes == Takes::kReal))
        wanted[op.inputs[i]] = true;
    }
  }
  return wanted;
}

ElementType widest_input(const Graph &graph, const Op &op) {
  ElementType type = ElementType::kBf16;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i] == kNone) continue;
    const ElementType input = graph.tensors[op.inputs[i]].type;
    if (spec_of(op, i).takes == Takes::kIndex) continue;
    if (input != ElementType::kBf16) type = input;
  }
  return type;
}

ElementType edge(const Graph &graph, const Op &op, Gives gives, bool sum_wanted) {
  switch (gives) {
  case Gives::kActivation:
    return ElementType::kBf16;
  case Gives::kSum:
    return sum_wanted ? ElementType::kFp32 : ElementType::kBf16;
  case Gives::kFp32:
    return ElementType::kFp32;
  case Gives::kIndex:
    return ElementType::kInt32;
  case Gives::kAsInput:
    return widest_input(graph, op);
  }
  return ElementType::kFp32;
}

class EdgePass {
public:
  EdgePass(Graph &graph, const OperatorSet &operators)
      : graph_(graph), cast_(operators.find("Cast")), names_(graph, operators), wanted_(wanted_sums(graph)),
        casts_(graph.tensors.size(), kNone), becomes_(graph.tensors.size(), kNone) {
    if (cast_ == nullptr) throw GraphDefect("there is no operator Cast");
    for (const Update &update : graph.updates)
      becomes_[update.next] = update.tensor;
  }

  void run() {
    for (const Op &op : std::vector<Op>(std::move(graph_.ops)))
      place(op);
    graph_.ops = std::move(ops_);
  }

private:
  void place(Op op) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if (op.inputs[i] != kNone && spec_of(op, i).takes == Takes::kOperand) op.inputs[i] = operand(op.inputs[i], op);
    for (std::size_t o = 0; o < op.outputs.size(); ++o) {
      if (op.outputs[o] == kNone) continue;
      Tensor &tensor = graph_.tensors[op.outputs[o]];
      tensor.producer = static_cast<OpId>(ops_.size());
      if (tensor.fixed_type) continue;
      const TensorId becomes = becomes_[op.outputs[o]];
      tensor.type =
          becomes == kNone ? edge(graph_, op, gives(op, o), wanted_[op.outputs[o]]) : graph_.tensors[becomes].type;
    }
    ops_.push_back(std::move(op));
  }

  /// The tensor, or its copy in bf16, which is made for the first reader.
  TensorId operand(TensorId id, const Op &reader) {
    if (graph_.tensors[id].type == ElementType::kBf16) return id;
    if (casts_[id] != kNone) return casts_[id];
    Tensor copy;
    copy.name = names_.fresh(graph_.tensors[id].name + ".bf16");
    copy.type = ElementType::kBf16;
    copy.shape = graph_.tensors[id].shape;
    copy.role = graph_.tensors[id].role == Role::kGradient ? Role::kGradient : Role::kActivation;
    copy.producer = static_cast<OpId>(ops_.size());
    copy.where = reader.where;
    copy.fixed_type = true;
    Op cast{cast_, copy.name, {id}, {static_cast<TensorId>(graph_.tensors.size())}, {}, reader.where};
    graph_.tensors.push_back(std::move(copy));
    ops_.push_back(std::move(cast));
    casts_[id] = ops_.back().outputs[0];
    return casts_[id];
  }

  Graph &graph_;
  const Operator *cast_;
  Builder names_;
  std::vector<bool> wanted_;
  std::vector<TensorId> casts_;   ///< of each tensor, its copy in bf16
  std::vector<TensorId> becomes_; ///< of each tensor, what it is the next value of
  std::vector<Op> ops_;
};

} // namespace

void assign_edges(Graph &graph, const OperatorSet &operators) { EdgePass(graph, operators).run(); }

} // namespace gradweave::graph
