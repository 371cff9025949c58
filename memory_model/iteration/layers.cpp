#include "memory_model/iteration/layers.hpp"

#include "graph/ir/product.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::memory_model {
namespace {

using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::TensorId;

bool only_shows(const Op &op, Views views) {
  return op.type->name == "Reshape" || op.type->name == "Flatten" || op.type->name == "Cast" ||
         (views.transposed && op.type->name == "Transpose");
}

} // namespace

Layers find_layers(const graph::Graph &graph, std::size_t ops, Views views) {
  Layers layers;
  layers.of_op.assign(ops, kNoLayer);
  std::vector<std::uint32_t> readers(graph.tensors.size());
  for (std::size_t o = 0; o < ops; ++o)
    for (const TensorId input : graph.ops[o].inputs)
      if (input != kNone) ++readers[input];
  for (OpId o = 0; o < ops; ++o) {
    const Op &op = graph.ops[o];
    if (only_shows(op, views)) continue;
    const OpId producer = op.type->name == "Bias" ? graph.tensors[op.inputs[0]].producer : kNone;
    const bool joins =
        producer != kNone && readers[op.inputs[0]] == 1 && graph::is_product({graph, graph.ops[producer]});
    if (!joins) layers.members.emplace_back();
    layers.of_op[o] = joins ? layers.of_op[producer] : static_cast<std::uint32_t>(layers.members.size() - 1);
    layers.members[layers.of_op[o]].push_back(o);
  }
  return layers;
}

std::vector<TensorId> shown_tensors(const graph::Graph &graph, Views views) {
  std::vector<TensorId> shown(graph.tensors.size());
  for (TensorId t = 0; t < shown.size(); ++t)
    shown[t] = t;
  for (const Op &op : graph.ops)
    if (only_shows(op, views)) shown[op.outputs[0]] = shown[op.inputs[0]];
  return shown;
}

namespace {

struct Successors {
  std::vector<std::vector<std::uint32_t>> of_layer;
  std::vector<std::uint32_t> waits; ///< layers that each one reads
};

Successors find_successors(const graph::Graph &graph, const Layers &layers, const std::vector<TensorId> &shown) {
  Successors found{std::vector<std::vector<std::uint32_t>>(layers.members.size()),
                   std::vector<std::uint32_t>(layers.members.size())};
  for (OpId o = 0; o < layers.of_op.size(); ++o)
    for (const TensorId input : graph.ops[o].inputs) {
      const std::uint32_t layer = layers.of_op[o];
      const OpId producer = input == kNone ? kNone : graph.tensors[shown[input]].producer;
      if (layer == kNoLayer || producer == kNone || layers.of_op[producer] == layer) continue;
      auto &list = found.of_layer[layers.of_op[producer]];
      if (std::find(list.begin(), list.end(), layer) != list.end()) continue;
      list.push_back(layer);
      ++found.waits[layer];
    }
  return found;
}

} // namespace

std::vector<std::uint32_t> execution_order(const graph::Graph &graph, const Layers &layers,
                                           const std::vector<TensorId> &shown) {
  Successors after = find_successors(graph, layers, shown);
  std::vector<bool> is_root;
  for (const std::uint32_t waits : after.waits)
    is_root.push_back(waits == 0);
  std::vector<std::uint32_t> order;
  std::vector<std::pair<std::uint32_t, std::size_t>> path; // layers that run, and which of their successors is next
  const auto run = [&](std::uint32_t layer) {
    order.push_back(layer);
    path.emplace_back(layer, 0);
  };
  for (std::uint32_t root = 0; root < is_root.size(); ++root) {
    if (!is_root[root]) continue;
    run(root);
    while (!path.empty()) {
      auto &[layer, at] = path.back();
      if (at == after.of_layer[layer].size()) {
        path.pop_back();
        continue;
      }
      const std::uint32_t next = after.of_layer[layer][at++];
      if (--after.waits[next] == 0) run(next);
    }
  }
  return order;
}

} // namespace gradweave::memory_model
