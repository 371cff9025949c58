#include "graph/passes/dead_code.hpp"

#include "graph/ir/operator.hpp"

#include <algorithm>

namespace gradweave::graph {
namespace {

std::vector<bool> live_tensors(const Graph &graph, const std::vector<TensorId> *also) {
  std::vector<bool> live(graph.tensors.size());
  for (const TensorId id : graph.results)
    live[id] = true;
  if (graph.loss != kNone) live[graph.loss] = true;
  for (const Update &update : graph.updates)
    live[update.tensor] = live[update.next] = true;
  if (also != nullptr)
    for (const TensorId id : *also)
      live[id] = true;
  for (OpId id = static_cast<OpId>(graph.ops.size()); id-- > 0;) {
    const Op &op = graph.ops[id];
    if (std::none_of(op.outputs.begin(), op.outputs.end(), [&](TensorId t) { return t != kNone && live[t]; })) continue;
    for (const TensorId input : op.inputs)
      if (input != kNone) live[input] = true;
  }
  for (TensorId id = 0; id < graph.tensors.size(); ++id) // an input that is made of others needs them
    if (live[id] && graph.tensors[id].function)
      for (const std::string &source : graph.tensors[id].function->sources())
        if (const TensorId of = graph.find(source); of != kNone) live[of] = true;
  return live;
}

} // namespace

void drop_dead_code(Graph &graph, std::vector<TensorId> *also, Unread unread) {
  const std::vector<bool> live = live_tensors(graph, also);
  std::vector<OpId> new_op(graph.ops.size(), kNone);
  std::vector<bool> stays(graph.tensors.size());
  OpId count = 0;
  for (OpId id = 0; id < graph.ops.size(); ++id) {
    Op &op = graph.ops[id];
    if (std::none_of(op.outputs.begin(), op.outputs.end(), [&](TensorId t) { return t != kNone && live[t]; })) continue;
    for (std::size_t o = 0; o < op.outputs.size(); ++o) {
      const OutputSpec &spec = op.type->outputs[std::min(o, op.type->outputs.size() - 1)];
      if (op.outputs[o] != kNone && !live[op.outputs[o]] && spec.optional) op.outputs[o] = kNone;
      if (op.outputs[o] != kNone) stays[op.outputs[o]] = true;
    }
    new_op[id] = count++;
  }
  std::vector<TensorId> new_id(graph.tensors.size(), kNone);
  std::vector<Tensor> tensors;
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    Tensor &tensor = graph.tensors[id];
    const bool own = !tensor.computed() && tensor.role != Role::kConstant && unread == Unread::kStay;
    if (!stays[id] && !own && !(live[id] && !tensor.computed())) continue;
    if (tensor.computed()) tensor.producer = new_op[tensor.producer];
    new_id[id] = static_cast<TensorId>(tensors.size());
    tensors.push_back(std::move(tensor));
  }
  graph.tensors = std::move(tensors);
  std::vector<Op> ops;
  for (OpId id = 0; id < new_op.size(); ++id)
    if (new_op[id] != kNone) ops.push_back(std::move(graph.ops[id]));
  graph.ops = std::move(ops);
  const auto renumber = [&](TensorId &id) {
    if (id != kNone) id = new_id[id];
  };
  for (Op &op : graph.ops) {
    std::for_each(op.inputs.begin(), op.inputs.end(), renumber);
    std::for_each(op.outputs.begin(), op.outputs.end(), renumber);
  }
  std::for_each(graph.results.begin(), graph.results.end(), renumber);
  renumber(graph.loss);
  for (Update &update : graph.updates) {
    renumber(update.tensor);
    renumber(update.next);
  }
  if (also != nullptr) std::for_each(also->begin(), also->end(), renumber);
}

} // namespace gradweave::graph
