#include "graph/partition/partition.hpp"

#include "graph/build/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace gradweave::graph {
namespace {

bool is_product(const Graph &graph, const Op &op) {
  return op.type->lower != nullptr && op.type->lower({graph, op}).product.has_value();
}

/// The op that begins the first upper layer.
OpId first_upper_op(const Graph &graph, std::uint32_t cut) {
  std::uint32_t layers = 0;
  for (OpId id = 0; id < graph.ops.size(); ++id)
    if (is_product(graph, graph.ops[id]) && layers++ == cut) return id;
  throw GraphError(
      fmt::format("graph '{}': cut = {} is beyond the network, which has {} layers (products); use 0 to {}", graph.name,
                  cut, layers, layers == 0 ? 0 : layers - 1));
}

/// Builds the graph with copies, op by op.
class Cutter {
public:
  Cutter(const Graph &forward, const OperatorSet &operators, const Partition &partition)
      : forward_(forward), partition_(partition), first_upper_(first_upper_op(forward, partition.cut)),
        whole_(forward.tensors.size(), kNone), parts_(forward.tensors.size()), split_(forward.tensors.size()) {
    result_.partition = partition;
    Graph &graph = result_.graph;
    graph.name = forward.name;
    graph.description = forward.description;
    graph.source = forward.source;
    graph.published = forward.published;
    for (TensorId id = 0; id < forward.tensors.size(); ++id)
      if (!forward.tensors[id].computed()) {
        whole_[id] = static_cast<TensorId>(graph.tensors.size());
        graph.tensors.push_back(forward.tensors[id]);
      }
    build_.emplace(graph, operators);
    // What depends on an input is there in parts.
    for (TensorId id = 0; id < forward.tensors.size(); ++id)
      split_[id] = forward.tensors[id].role == Role::kInput;
    for (const Op &op : forward.ops)
      for (const TensorId input : op.inputs)
        if (input != kNone && split_[input])
          for (const TensorId output : op.outputs)
            if (output != kNone) split_[output] = true;
  }

  PartitionedGraph run() {
    for (OpId id = 0; id < forward_.ops.size(); ++id) {
      const Op &op = forward_.ops[id];
      const bool lower = id < first_upper_;
      const bool copied = lower && std::any_of(op.inputs.begin(), op.inputs.end(),
                                               [this](TensorId t) { return t != kNone && split_[t]; });
      if (!copied) {
        append(op, lower ? 0 : partition_.upper(), {}, whole_, [this](TensorId t) { return whole_of(t); });
        continue;
      }
      for (std::uint32_t part = 0; part < partition_.parts; ++part) {
        std::vector<TensorId> now(forward_.tensors.size(), kNone);
        append(op, part, fmt::format(".part{}", part), now, [&](TensorId t) { return part_of(t, part); });
        for (const TensorId output : op.outputs)
          if (output != kNone) parts_[output].push_back(now[output]);
      }
    }
    finish();
    return std::move(result_);
  }

private:
  template <class Map>
  void append(const Op &op, std::uint32_t place, const std::string &suffix, std::vector<TensorId> &made,
              const Map &map) {
    std::vector<TensorId> inputs;
    for (const TensorId input : op.inputs)
      inputs.push_back(input == kNone ? kNone : map(input));
    std::vector<std::optional<std::string>> names;
    for (const TensorId output : op.outputs)
      names.push_back(output == kNone ? std::nullopt
                                      : std::optional<std::string>(forward_.tensors[output].name + suffix));
    build_->at(op.where);
    const auto outputs = build_->add_named(op.type->name, std::move(inputs), op.attributes, op.name + suffix, names);
    Graph &graph = result_.graph;
    graph.ops.back().recompute = op.recompute;
    result_.places.resize(graph.ops.size(), place);
    for (std::size_t o = 0; o < op.outputs.size(); ++o) {
      if (op.outputs[o] == kNone) continue;
      const Tensor &from = forward_.tensors[op.outputs[o]];
      made[op.outputs[o]] = outputs[o];
      graph.tensors[outputs[o]].boundary = from.boundary;
      if (from.fixed_type) build_->fix_type(outputs[o], from.type);
    }
  }

  /// A tensor as lower layers of a part read it.
  TensorId part_of(TensorId id, std::uint32_t part) {
    if (!split_[id]) return whole_[id];
    if (parts_[id].empty()) split_input(id);
    return parts_[id][part];
  }

  void split_input(TensorId id) {
    const Tensor &input = forward_.tensors[id];
    const std::uint32_t batch = input.shape.rank() == 0 ? 1 : input.shape[0];
    if (batch % partition_.parts != 0)
      throw GraphError(fmt::format("graph '{}': the batch of input '{}', {}, is not divisible by the {} devices of the "
                                   "lower layers; use a multiple of {}",
                                   forward_.name, input.name, batch, partition_.parts, partition_.parts));
    std::vector<std::optional<std::string>> names;
    for (std::uint32_t part = 0; part < partition_.parts; ++part)
      names.emplace_back(fmt::format("{}.part{}", input.name, part));
    Attributes attributes;
    attributes.set("axis", std::int64_t{0});
    attributes.set("split", std::vector<std::int64_t>(partition_.parts, batch / partition_.parts));
    parts_[id] = build_->add_named("Split", {whole_[id]}, attributes, build_->fresh_op(input.name + ".parts"), names);
    result_.places.resize(result_.graph.ops.size(), kHostPlace);
  }

  /// A tensor as upper layers read it.
  TensorId whole_of(TensorId id) {
    if (whole_[id] != kNone) return whole_[id];
    const Tensor &tensor = forward_.tensors[id];
    const Shape &part = build_->shape(parts_[id].front());
    if (tensor.shape.rank() == 0 || part.rank() == 0 || part[0] * partition_.parts != tensor.shape[0])
      throw GraphError(
          fmt::format("graph '{}': tensor '{}' {} crosses the cut and has no batch in front; cut elsewhere",
                      forward_.name, tensor.name, tensor.shape.text()));
    Attributes attributes;
    attributes.set("axis", std::int64_t{0});
    whole_[id] = build_->add("Concat", parts_[id], attributes, tensor.name);
    result_.places.resize(result_.graph.ops.size(), partition_.upper());
    return whole_[id];
  }

  void finish() {
    Graph &graph = result_.graph;
    for (const Update &update : forward_.updates) {
      if (whole_[update.next] == kNone)
        throw GraphError(fmt::format("graph '{}': '{}' lies below the cut and lives from step to step; each of {} "
                                     "devices would have its own; cut below it, or use one device",
                                     forward_.name, forward_.tensors[update.tensor].name, partition_.parts));
      build_->update(whole_[update.tensor], whole_[update.next]);
    }
    for (const TensorId id : forward_.results)
      graph.results.push_back(whole_of(id));
    if (forward_.loss != kNone) graph.loss = whole_of(forward_.loss);
    verify(graph);
  }

  const Graph &forward_;
  Partition partition_;
  OpId first_upper_;
  PartitionedGraph result_;
  std::optional<Builder> build_;
  std::vector<TensorId> whole_; ///< of each tensor, itself in the new graph; kNone: it is there in parts only
  std::vector<std::vector<TensorId>> parts_; ///< of each tensor
  std::vector<bool> split_;
};

/// One part needs no copies.
PartitionedGraph cut_only(const Graph &forward, const Partition &partition) {
  const OpId first_upper = first_upper_op(forward, partition.cut);
  PartitionedGraph result{forward, partition, {}};
  for (OpId id = 0; id < forward.ops.size(); ++id)
    result.places.push_back(id < first_upper ? 0 : partition.upper());
  return result;
}

} // namespace

std::uint32_t count_layers(const Graph &forward) {
  return static_cast<std::uint32_t>(
      std::count_if(forward.ops.begin(), forward.ops.end(), [&](const Op &op) { return is_product(forward, op); }));
}

PartitionedGraph partition_batch(const Graph &forward, const OperatorSet &operators, const Partition &partition) {
  return partition.parts == 1 ? cut_only(forward, partition) : Cutter(forward, operators, partition).run();
}

std::vector<std::uint32_t> places_of_step(const TrainingGraph &step, const PartitionedGraph &network) {
  const Graph &graph = step.graph;
  std::map<std::string, std::uint32_t> by_name;
  for (OpId id = 0; id < network.graph.ops.size(); ++id)
    by_name[network.graph.ops[id].name] = network.places[id];
  for (const auto &[op, from] : step.goes_back_through)
    by_name[op] = by_name.at(from);

  // What reads parameters alone is where these are updated, what reads inputs alone where the first reader is.
  constexpr std::uint32_t kOpen = kNone - 1;
  std::vector<std::uint32_t> places(graph.ops.size(), kOpen);
  for (OpId id = 0; id < graph.ops.size(); ++id) {
    const auto named = by_name.find(graph.ops[id].name);
    if (named != by_name.end()) {
      places[id] = named->second;
      continue;
    }
    for (const TensorId input : graph.ops[id].inputs)
      if (const OpId producer = input == kNone ? kNone : graph.tensors[input].producer;
          producer != kNone && places[producer] != kHostPlace)
        places[id] = std::min(places[id], places[producer]);
  }
  std::map<TensorId, std::uint32_t> home; // of what lives from step to step
  for (const Update &update : graph.updates)
    if (const OpId producer = graph.tensors[update.next].producer; producer != kNone && places[producer] != kOpen)
      home[update.tensor] = places[producer];
  const auto readers = graph.consumers();
  for (OpId id = static_cast<OpId>(graph.ops.size()); id-- > 0;) {
    if (places[id] != kOpen) continue;
    for (const TensorId input : graph.ops[id].inputs)
      if (const auto known = home.find(input); known != home.end()) places[id] = std::min(places[id], known->second);
    if (places[id] != kOpen) continue;
    for (const TensorId output : graph.ops[id].outputs)
      if (output != kNone)
        for (const OpId reader : readers[output])
          places[id] = std::min(places[id], places[reader]);
    if (places[id] == kOpen) places[id] = network.partition.upper();
  }
  return places;
}

} // namespace gradweave::graph
