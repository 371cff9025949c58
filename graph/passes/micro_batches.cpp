#include "graph/passes/micro_batches.hpp"

#include "graph/build/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace gradweave::graph {
namespace {

/// The place of an optional input called "initial": of a sum that can go on from an earlier one.
std::size_t initial_input(const Op &op) {
  const auto &specs = op.type->inputs;
  const auto found =
      std::find_if(specs.begin(), specs.end(), [](const InputSpec &s) { return s.optional && s.name == "initial"; });
  return static_cast<std::size_t>(found - specs.begin());
}

class Repeater {
public:
  Repeater(Graph &graph, const OperatorSet &operators)
      : graph_(graph), build_(graph, operators), tensors_(static_cast<TensorId>(graph.tensors.size())),
        ops_(static_cast<OpId>(graph.ops.size())), readers_(graph.consumers()), now_(graph.tensors.size()) {
    for (const Update &update : graph.updates)
      first_next_[update.tensor] = update.next;
    for (TensorId id = 0; id < tensors_; ++id)
      now_[id] = id;
    build_.set_role(Role::kGradient);
  }

  Copy first() const {
    Copy copy;
    copy.loss = graph_.loss;
    for (TensorId id = 0; id < tensors_; ++id)
      if (graph_.tensors[id].role == Role::kInput) copy.inputs.emplace_back(id, id);
    return copy;
  }

  Copy append(std::uint32_t number) {
    // What lives on is what the copy before made of it.
    for (const Update &update : graph_.updates)
      now_[update.tensor] = update.next;
    Copy copy;
    for (TensorId id = 0; id < tensors_; ++id) {
      const Tensor &tensor = graph_.tensors[id];
      if (tensor.role != Role::kInput && !tensor.computed()) continue;
      Tensor again = tensor;
      again.name = build_.fresh(fmt::format("{}.batch{}", tensor.name, number));
      if (again.computed()) again.producer += static_cast<OpId>(graph_.ops.size());
      now_[id] = static_cast<TensorId>(graph_.tensors.size());
      if (again.role == Role::kInput) copy.inputs.emplace_back(id, now_[id]);
      graph_.tensors.push_back(std::move(again));
    }
    append_ops(number);
    for (Update &update : graph_.updates)
      update.next = now_[first_next_.at(update.tensor)];
    copy.loss = now_[graph_.loss];
    return copy;
  }

  /// The sum of a gradient over this copy and those before, whose sum `total` is.
  TensorId accumulate(TensorId gradient, TensorId total) {
    const TensorId own = now_[gradient];
    const auto added = [&] {
      return build_.add("Add", {total, own}, {}, build_.fresh(graph_.tensors[gradient].name + ".total"));
    };
    if (!graph_.tensors[own].computed()) return added(); // the loss is the parameter itself, or a sum with it
    Op &op = graph_.ops[graph_.tensors[own].producer];
    const std::size_t initial = initial_input(op);
    const bool given = initial < op.inputs.size() && op.inputs[initial] != kNone;
    if (initial == op.type->inputs.size() || given || !readers_[gradient].empty()) return added();
    op.inputs.resize(initial + 1, kNone);
    op.inputs[initial] = total;
    return own;
  }

private:
  void append_ops(std::uint32_t number) {
    for (OpId id = 0; id < ops_; ++id) {
      Op op = graph_.ops[id];
      op.name = build_.fresh(fmt::format("{}.batch{}", op.name, number));
      for (std::vector<TensorId> *ids : {&op.inputs, &op.outputs})
        for (TensorId &tensor : *ids)
          if (tensor != kNone) tensor = now_[tensor];
      graph_.ops.push_back(std::move(op));
    }
  }

  Graph &graph_;
  Builder build_;
  TensorId tensors_; ///< of the graph as it was
  OpId ops_;
  Consumers readers_;
  std::vector<TensorId> now_;               ///< of each of these tensors, the one of the latest copy
  std::map<TensorId, TensorId> first_next_; ///< of what the graph updates by itself, its next value there
};

} // namespace

std::vector<Copy> repeat_for_micro_batches(Graph &graph, const OperatorSet &operators, std::uint32_t count,
                                           std::vector<ParameterGradient> &gradients) {
  Repeater repeater(graph, operators);
  std::vector<Copy> copies{repeater.first()};
  std::map<TensorId, TensorId> totals; // by gradient, which parameters may share
  for (const ParameterGradient &g : gradients)
    totals[g.gradient] = g.gradient;
  for (std::uint32_t number = 2; number <= count; ++number) {
    copies.push_back(repeater.append(number));
    for (auto &[gradient, total] : totals)
      total = repeater.accumulate(gradient, total);
  }
  for (ParameterGradient &g : gradients)
    g.gradient = totals.at(g.gradient);
  return copies;
}

} // namespace gradweave::graph
