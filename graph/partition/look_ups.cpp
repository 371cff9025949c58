#include "graph/partition/look_ups.hpp"

#include "graph/ir/product.hpp"

#include <algorithm>

namespace gradweave::graph {
namespace {

/// Where all that an op reads is computed: at one place of `places`; else kNone.
std::uint32_t common_place(const Graph &graph, const Op &op, const std::vector<std::uint32_t> &places) {
  std::uint32_t common = kNone;
  for (const TensorId input : op.inputs) {
    const OpId producer = input == kNone ? kNone : graph.tensors[input].producer;
    const std::uint32_t place = producer == kNone ? kNone : places[producer];
    if (place == kNone || (common != kNone && place != common)) return kNone;
    common = place;
  }
  return common;
}

} // namespace

bool looks_up(const Graph &graph, const Op &op) {
  return op.type->name == "Gather" && graph.tensors[op.inputs[0]].role == Role::kParameter &&
         (!op.attributes.has("axis") || op.attributes.integer("axis") == 0);
}

std::vector<std::uint32_t> places_of_look_ups(const Graph &graph, const std::vector<std::uint32_t> &places,
                                              bool reduced) {
  std::vector<std::uint32_t> result(graph.ops.size(), kNone);
  if (places.empty()) return result;
  const auto readers = graph.consumers();
  const auto read_once = [&](TensorId table) {
    return std::count_if(readers[table].begin(), readers[table].end(), [&](OpId reader) {
             return graph.tensors[graph.ops[reader].outputs[0]].role == Role::kActivation;
           }) == 1;
  };
  std::size_t tables = 0;
  for (OpId id = 0; id < graph.ops.size(); ++id) {
    const Op &op = graph.ops[id];
    if (looks_up(graph, op) && read_once(op.inputs[0]))
      result[id] = places[tables++ % places.size()];
    else if (reduced && !is_product({graph, op}) && graph.tensors[op.outputs[0]].role == Role::kActivation)
      result[id] = common_place(graph, op, result);
  }
  return result;
}

} // namespace gradweave::graph
