#include "graph/build/verify.hpp"

#include "graph/build/check_op.hpp"

#include <fmt/format.h>

#include <unordered_set>

namespace gradweave::graph {
namespace {

[[noreturn]] void fail(const std::string &where, std::string_view message) {
  throw GraphError(where.empty() ? std::string(message) : fmt::format("{}: {}", where, message));
}

void verify_tensor(const Graph &graph, TensorId id, std::unordered_set<std::string_view> &names) {
  const Tensor &tensor = graph.tensors[id];
  if (tensor.name.empty()) fail(tensor.where, fmt::format("tensor {} has no name", id));
  if (!names.insert(tensor.name).second) fail(tensor.where, fmt::format("two tensors are called '{}'", tensor.name));
  check_shape(tensor.shape,
              [&](std::string_view m) { fail(tensor.where, fmt::format("tensor '{}': {}", tensor.name, m)); });
  const bool computed =
      tensor.role == Role::kActivation || tensor.role == Role::kGradient || tensor.role == Role::kUpdated;
  if (computed != tensor.computed())
    fail(tensor.where, fmt::format(computed ? "tensor '{}' is read, but nothing computes it"
                                            : "tensor '{}' is an {} and computed by an op",
                                   tensor.name, to_string(tensor.role)));
  if (tensor.role == Role::kConstant && tensor.values.size() != 1 && tensor.values.size() != tensor.shape.elements())
    fail(tensor.where, fmt::format("constant '{}' has {} values for {} elements", tensor.name, tensor.values.size(),
                                   tensor.shape.elements()));
}

/// Inputs that are computed must have been by ops before.
void verify_order(const Graph &graph, OpId id) {
  const Op &op = graph.ops[id];
  for (const TensorId input : op.inputs)
    if (input != kNone && graph.tensors.at(input).computed() && graph.tensors[input].producer >= id)
      throw GraphError(fmt::format("{}: reads '{}', which is computed by {} behind it: a cycle, or ops out of order",
                                   describe(op), graph.tensors[input].name,
                                   graph.tensors[input].producer < graph.ops.size()
                                       ? describe(graph.ops[graph.tensors[input].producer])
                                       : "no op"));
}

void verify_outputs(const Graph &graph, OpId id, const std::vector<Shape> &shapes) {
  const Op &op = graph.ops[id];
  for (std::size_t o = 0; o < op.outputs.size(); ++o) {
    if (op.outputs[o] == kNone) continue;
    const Tensor &tensor = graph.tensors.at(op.outputs[o]);
    if (tensor.producer != id)
      throw GraphError(fmt::format("{}: '{}' has two writers, or names another as its own", describe(op), tensor.name));
    if (tensor.shape != shapes[o])
      throw GraphError(fmt::format("{}: '{}' is {}, and its op gives {}", describe(op), tensor.name,
                                   tensor.shape.text(), shapes[o].text()));
  }
}

} // namespace

void verify(const Graph &graph) {
  std::unordered_set<std::string_view> tensors, ops;
  for (TensorId id = 0; id < graph.tensors.size(); ++id)
    verify_tensor(graph, id, tensors);
  for (OpId id = 0; id < graph.ops.size(); ++id) {
    Op op = graph.ops[id];
    if (!ops.insert(graph.ops[id].name).second) fail(op.where, fmt::format("two ops are called '{}'", op.name));
    verify_order(graph, id);
    complete_attributes(op);
    verify_outputs(graph, id, check_op(graph, op));
  }
  for (const Update &update : graph.updates)
    check_update(graph, update, [&](std::string_view m) { fail(graph.tensors[update.tensor].where, m); });
  for (const TensorId result : graph.results)
    if (result >= graph.tensors.size()) throw GraphError("a result is a tensor that there is not");
}

} // namespace gradweave::graph
