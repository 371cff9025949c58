#include "graph/build/builder.hpp"
#include "graph/partition/begin_like.hpp"
#include "graph/partition/micro_batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace gradweave::graph {
namespace {

/// BatchNormalization's outputs: the result, two statistics that gradients read, and the next running averages.
constexpr std::size_t kOutputs = 5;

class Rebuild {
public:
  Rebuild(const PartitionedGraph &network, const OperatorSet &operators, std::uint32_t micro)
      : network_(network), from_(network.graph), micro_(micro) {
    result_.partition = network.partition;
    Graph &graph = result_.graph;
    now_ = begin_like(graph, from_);
    build_.emplace(graph, operators);
  }

  PartitionedGraph run() {
    for (OpId id = 0; id < from_.ops.size(); ++id) {
      const Op &op = from_.ops[id];
      build_->at(op.where);
      if (op.type->name == "BatchNormalization")
        split(op, network_.parts[id]);
      else
        copy(op);
      result_.places.resize(result_.graph.ops.size(), network_.places[id]);
      result_.parts.resize(result_.graph.ops.size(), network_.parts[id]);
    }
    Graph &graph = result_.graph;
    for (const Update &update : from_.updates)
      build_->update(now_[update.tensor], now_[update.next]);
    for (const TensorId id : from_.results)
      graph.results.push_back(now_[id]);
    if (from_.loss != kNone) graph.loss = now_[from_.loss];
    verify(graph);
    return std::move(result_);
  }

private:
  TensorId mapped(TensorId id) const { return id == kNone ? kNone : now_[id]; }

  void copy(const Op &op) {
    std::vector<TensorId> inputs;
    for (const TensorId input : op.inputs)
      inputs.push_back(mapped(input));
    std::vector<std::optional<std::string>> names;
    for (const TensorId output : op.outputs)
      names.push_back(output == kNone ? std::nullopt : std::optional<std::string>(from_.tensors[output].name));
    const auto outputs = build_->add_named(op.type->name, std::move(inputs), op.attributes, op.name, names);
    result_.graph.ops.back().recompute = op.recompute;
    for (std::size_t o = 0; o < op.outputs.size(); ++o)
      if (op.outputs[o] != kNone) take(op.outputs[o], outputs[o]);
  }

  void take(TensorId id, TensorId made) {
    now_[id] = made;
    Tensor &tensor = result_.graph.tensors[made];
    tensor.boundary = from_.tensors[id].boundary;
    if (from_.tensors[id].fixed_type) build_->fix_type(made, from_.tensors[id].type);
  }

  /// A tensor's rows, of so many for each share of images.
  std::vector<TensorId> cut(TensorId tensor, const std::vector<std::uint32_t> &shares, const Op &op) {
    if (shares.size() == 1) return {tensor};
    const std::uint32_t rows = build_->shape(tensor)[0], all = std::accumulate(shares.begin(), shares.end(), 0U);
    if (rows % all != 0)
      throw GraphError(
          fmt::format("graph '{}': '{}' takes statistics over {} rows, which {} micro-batches of each part "
                      "do not divide; use a multiple of {}",
                      from_.name, op.name, rows, micro_, all));
    std::vector<std::int64_t> sizes;
    for (const std::uint32_t share : shares)
      sizes.push_back(std::int64_t{rows / all} * share);
    Attributes attributes;
    attributes.set("axis", std::int64_t{0});
    attributes.set("split", sizes);
    return build_->add_all("Split", {tensor}, attributes, build_->fresh(op.name + ".rows"), sizes.size());
  }

  TensorId join(const std::vector<TensorId> &tensors, const std::string &name) {
    if (tensors.size() == 1) return tensors.front();
    Attributes attributes;
    attributes.set("axis", std::int64_t{0});
    return build_->add("Concat", tensors, attributes, build_->fresh(name));
  }

  /// A micro-batch has rows of all parts that the op works on.
  void split(const Op &op, const std::vector<std::uint32_t> &parts) {
    std::vector<std::uint32_t> of_parts, of_units;
    for (const std::uint32_t part : parts) {
      of_parts.push_back(network_.partition.routes[part].share);
      of_units.insert(of_units.end(), micro_, of_parts.back());
    }
    const std::vector<TensorId> rows = cut(mapped(op.inputs[0]), of_units, op);
    std::vector<TensorId> results(rows.size()), inputs, outputs;
    for (const TensorId input : op.inputs)
      inputs.push_back(mapped(input));
    for (std::uint32_t k = 0; k < micro_; ++k) {
      std::vector<TensorId> own;
      for (std::size_t part = 0; part < parts.size(); ++part)
        own.push_back(rows[part * micro_ + k]);
      const std::string name = fmt::format("{}.micro{}", op.name, k);
      inputs[0] = join(own, name + ".rows");
      if (k > 0) std::copy_n(outputs.begin() + 3, 2, inputs.begin() + 3); // running averages go on
      outputs = build_->add_all(op.type->name, inputs, op.attributes, name);
      const std::vector<TensorId> made = cut(outputs[0], of_parts, op);
      for (std::size_t part = 0; part < parts.size(); ++part)
        results[part * micro_ + k] = made[part];
    }
    take(op.outputs[0], join(results, from_.tensors[op.outputs[0]].name));
    for (std::size_t o = 1; o < kOutputs && o < op.outputs.size(); ++o)
      if (op.outputs[o] != kNone) now_[op.outputs[o]] = outputs[o];
  }

  const PartitionedGraph &network_;
  const Graph &from_;
  std::uint32_t micro_;
  PartitionedGraph result_;
  std::optional<Builder> build_;
  std::vector<TensorId> now_; ///< of each tensor, in the new graph
};

} // namespace

PartitionedGraph split_statistics(const PartitionedGraph &network, const OperatorSet &operators,
                                  std::uint32_t micro_batches) {
  return micro_batches == 1 ? network : Rebuild(network, operators, micro_batches).run();
}

} // namespace gradweave::graph
