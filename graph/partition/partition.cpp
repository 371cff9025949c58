#include "graph/partition/partition.hpp"

#include "graph/build/builder.hpp"
#include "graph/ir/product.hpp"
#include "graph/partition/begin_like.hpp"
#include "graph/partition/look_ups.hpp"
#include "graph/partition/row_wise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace gradweave::graph {
namespace {

using Parts = std::vector<std::uint32_t>;

/// The parts of the mini-batch that a layer has at a place.
struct Group {
  std::uint32_t place = 0;
  Parts parts;
};

/// Builds the graph with copies, op by op.
class Cutter {
public:
  Cutter(const Graph &forward, const OperatorSet &operators, const Partition &partition)
      : forward_(forward), partition_(partition),
        look_ups_(places_of_look_ups(forward, partition.tables, partition.reduced_there)),
        versions_(forward.tensors.size()), slices_(forward.tensors.size()), split_(forward.tensors.size()) {
    result_.partition = partition;
    for (std::uint32_t part = 0; part < partition.routes.size(); ++part)
      all_.push_back(part);
    Graph &graph = result_.graph;
    const std::vector<TensorId> now = begin_like(graph, forward);
    for (TensorId id = 0; id < now.size(); ++id)
      if (now[id] != kNone) versions_[id] = {{now[id], all_}};
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
    check_layers();
    std::uint32_t products = 0;
    for (OpId id = 0; id < forward_.ops.size(); ++id) {
      products += is_product({forward_, forward_.ops[id]}) ? 1 : 0;
      for (const Group &group : groups_of(id, products == 0 ? 0 : products - 1))
        append(forward_.ops[id], group);
    }
    finish();
    return std::move(result_);
  }

private:
  struct Version {
    TensorId id = kNone;
    Parts parts;
  };

  void check_layers() const {
    const std::uint32_t layers = count_layers(forward_);
    for (const Route &route : partition_.routes)
      for (const Leg &leg : route.legs)
        if (leg.first >= layers)
          throw GraphError(
              fmt::format("graph '{}': cut = {} is beyond the network, which has {} layers (products); use 0 to {}",
                          forward_.name, leg.first, layers, layers == 0 ? 0 : layers - 1));
  }

  /// In the order of their first parts.
  std::vector<Group> groups_of(OpId id, std::uint32_t layer) const {
    if (look_ups_[id] != kNone) return {{look_ups_[id], all_}};
    const Op &op = forward_.ops[id];
    if (std::none_of(op.inputs.begin(), op.inputs.end(), [this](TensorId t) { return t != kNone && split_[t]; }))
      return {{partition_.routes.front().place_of(layer), all_}};
    // One number is one of all images, as the mean that a loss is.
    if (forward_.tensors[op.outputs[0]].shape.rank() == 0) return {{partition_.places() - 1, all_}};
    std::vector<Group> groups;
    for (const std::uint32_t part : all_) {
      const std::uint32_t place = partition_.routes[part].place_of(layer);
      const auto known =
          std::find_if(groups.begin(), groups.end(), [place](const Group &g) { return g.place == place; });
      if (known == groups.end())
        groups.push_back({place, {part}});
      else
        known->parts.push_back(part);
    }
    return groups;
  }

  /// Of names of what belongs to some parts only.
  std::string suffix(const Parts &parts) const {
    return parts == all_ ? "" : fmt::format(".part{}", fmt::join(parts, "_"));
  }

  void append(const Op &op, const Group &group) {
    std::vector<TensorId> inputs;
    for (const TensorId input : op.inputs)
      inputs.push_back(input == kNone ? kNone : rows_of(input, group));
    std::vector<std::optional<std::string>> names;
    for (const TensorId output : op.outputs)
      names.push_back(output == kNone
                          ? std::nullopt
                          : std::optional<std::string>(forward_.tensors[output].name + suffix(group.parts)));
    build_->at(op.where);
    const auto outputs =
        build_->add_named(op.type->name, std::move(inputs),
                          attributes_of_rows({forward_, op}, shares_of(group.parts), partition_.shares()),
                          op.name + suffix(group.parts), names);
    Graph &graph = result_.graph;
    graph.ops.back().recompute = op.recompute;
    note_place(group.place, group.parts);
    for (std::size_t o = 0; o < op.outputs.size(); ++o) {
      if (op.outputs[o] == kNone) continue;
      const Tensor &from = forward_.tensors[op.outputs[o]];
      versions_[op.outputs[o]].push_back({outputs[o], group.parts});
      graph.tensors[outputs[o]].boundary = from.boundary;
      if (from.fixed_type) build_->fix_type(outputs[o], from.type);
    }
  }

  void note_place(std::uint32_t place, const Parts &parts) {
    result_.places.resize(result_.graph.ops.size(), place);
    result_.parts.resize(result_.graph.ops.size(), parts);
  }

  std::uint32_t shares_of(const Parts &parts) const {
    std::uint32_t sum = 0;
    for (const std::uint32_t part : parts)
      sum += partition_.routes[part].share;
    return sum;
  }

  std::uint32_t place_of(TensorId made) const {
    const OpId producer = result_.graph.tensors[made].producer;
    return producer == kNone ? kHostPlace : result_.places[producer];
  }

  static Attributes along_rows() {
    Attributes attributes;
    attributes.set("axis", std::int64_t{0});
    return attributes;
  }

  /// A tensor's rows of a group's parts: as they are there, or put together from what is.
  TensorId rows_of(TensorId id, const Group &group) {
    const std::vector<Version> &versions = versions_[id];
    for (const Version &version : versions)
      if (!split_[id] || version.parts == group.parts) return version.id;
    std::vector<TensorId> pieces;
    for (auto at = group.parts.begin(); at != group.parts.end();) {
      const auto fits = [&](const Version &v) {
        return v.parts.size() <= static_cast<std::size_t>(group.parts.end() - at) &&
               std::equal(v.parts.begin(), v.parts.end(), at);
      };
      const auto version = std::find_if(versions.begin(), versions.end(), fits);
      pieces.push_back(version != versions.end() ? version->id : slice(id, *at));
      at += version != versions.end() ? static_cast<std::ptrdiff_t>(version->parts.size()) : 1;
    }
    if (pieces.size() == 1) return pieces.front();
    require_batch(id);
    const bool host =
        std::all_of(pieces.begin(), pieces.end(), [this](TensorId t) { return place_of(t) == kHostPlace; });
    const TensorId made = build_->add(concat_of(forward_.tensors[id].type), pieces, along_rows(),
                                      build_->fresh(forward_.tensors[id].name + suffix(group.parts)));
    note_place(host ? kHostPlace : group.place, group.parts);
    versions_[id].push_back({made, group.parts});
    return made;
  }

  /// Throws unless what is there of a tensor has a batch in front.
  void require_batch(TensorId id) const {
    const Tensor &tensor = forward_.tensors[id];
    for (const Version &version : versions_[id]) {
      const Shape &shape = result_.graph.tensors[version.id].shape;
      if (tensor.shape.rank() == 0 || shape.rank() == 0 ||
          std::uint64_t{shape[0]} * partition_.shares() != std::uint64_t{tensor.shape[0]} * shares_of(version.parts))
        throw GraphError(
            fmt::format("graph '{}': tensor '{}' {} crosses the cut and has no batch in front; cut elsewhere",
                        forward_.name, tensor.name, tensor.shape.text()));
    }
  }

  /// The rows of one part of a tensor that is there with those of several.
  TensorId slice(TensorId id, std::uint32_t part) {
    if (const auto known = slices_[id].find(part); known != slices_[id].end()) return known->second;
    const auto holds = [part](const Version &v) {
      return v.parts.size() > 1 && std::find(v.parts.begin(), v.parts.end(), part) != v.parts.end();
    };
    const Version version = *std::find_if(versions_[id].begin(), versions_[id].end(), holds);
    const Tensor &tensor = forward_.tensors[id];
    const std::uint32_t rows = tensor.shape.rank() == 0 ? 1 : tensor.shape[0];
    if (rows % partition_.shares() != 0 && !tensor.computed())
      throw GraphError(fmt::format("graph '{}': the batch of input '{}', {}, is not divisible by the {} shares of "
                                   "devices; use a multiple of {}",
                                   forward_.name, tensor.name, rows, partition_.shares(), partition_.shares()));
    require_batch(id);
    if (rows % partition_.shares() != 0)
      throw GraphError(fmt::format("graph '{0}': tensor '{1}' {2} is cut into parts, and its first dimension is not "
                                   "divisible by the {3} shares of devices; use a batch that is a multiple of {3}",
                                   forward_.name, tensor.name, tensor.shape.text(), partition_.shares()));
    Attributes attributes = along_rows();
    std::vector<std::int64_t> sizes;
    std::vector<std::optional<std::string>> names;
    for (const std::uint32_t own : version.parts) {
      sizes.push_back(rows / partition_.shares() * partition_.routes[own].share);
      names.emplace_back(build_->fresh_tensor(tensor.name + suffix({own})));
    }
    attributes.set("split", sizes);
    const auto made = build_->add_named(split_of(tensor.type), {version.id}, attributes,
                                        build_->fresh_op(tensor.name + ".parts"), names);
    note_place(place_of(version.id), version.parts);
    for (std::size_t i = 0; i < made.size(); ++i)
      slices_[id][version.parts[i]] = made[i];
    return slices_[id].at(part);
  }

  void finish() {
    Graph &graph = result_.graph;
    const Group end{partition_.places() - 1, all_};
    for (const Update &update : forward_.updates)
      build_->update(versions_[update.tensor].front().id, versions_[update.next].front().id);
    for (const TensorId id : forward_.results)
      graph.results.push_back(rows_of(id, end));
    if (forward_.loss != kNone) graph.loss = rows_of(forward_.loss, end);
    verify(graph);
  }

  const Graph &forward_;
  Partition partition_;
  std::vector<std::uint32_t> look_ups_; ///< of each op, its place if it is where tables lie
  Parts all_;
  PartitionedGraph result_;
  std::optional<Builder> build_;
  std::vector<std::vector<Version>> versions_;            ///< of each tensor, in the new graph
  std::vector<std::map<std::uint32_t, TensorId>> slices_; ///< of each tensor, by part
  std::vector<bool> split_;                               ///< of each tensor
};

} // namespace

std::uint32_t Route::place_of(std::uint32_t layer) const {
  std::uint32_t place = legs.front().place;
  for (const Leg &leg : legs)
    if (leg.first <= layer) place = leg.place;
  return place;
}

std::uint32_t Partition::shares() const {
  std::uint32_t sum = 0;
  for (const Route &route : routes)
    sum += route.share;
  return sum;
}

std::uint32_t Partition::places() const {
  std::uint32_t count = 0;
  for (const Route &route : routes)
    for (const Leg &leg : route.legs)
      count = std::max(count, leg.place + 1);
  return count;
}

Partition Partition::of_cut(std::uint32_t cut, std::uint32_t parts) {
  Partition partition;
  for (std::uint32_t part = 0; part < parts; ++part)
    partition.routes.push_back({1, {{part, 0}, {parts, cut}}});
  return partition;
}

std::uint32_t count_layers(const Graph &forward) {
  return static_cast<std::uint32_t>(std::count_if(forward.ops.begin(), forward.ops.end(), [&](const Op &op) {
    return is_product({forward, op});
  }));
}

PartitionedGraph partition_batch(const Graph &forward, const OperatorSet &operators, const Partition &partition) {
  return Cutter(forward, operators, partition).run();
}

namespace {

/// By op of a step that updates a table where that lies: the place.
std::map<OpId, std::uint32_t> updates_of_tables(const Graph &graph, const Partition &partition) {
  const std::vector<std::uint32_t> look_ups = places_of_look_ups(graph, partition.tables, false);
  std::map<OpId, std::uint32_t> places;
  for (OpId id = 0; id < graph.ops.size(); ++id)
    for (const Update &update : graph.updates)
      if (look_ups[id] != kNone && update.tensor == graph.ops[id].inputs[0])
        places[graph.tensors[update.next].producer] = look_ups[id];
  return places;
}

} // namespace

std::vector<std::uint32_t> places_of_step(const TrainingGraph &step, const PartitionedGraph &network) {
  const Graph &graph = step.graph;
  std::map<std::string, std::uint32_t> by_name;
  for (OpId id = 0; id < network.graph.ops.size(); ++id)
    by_name[network.graph.ops[id].name] = network.places[id];
  for (const auto &[op, from] : step.goes_back_through)
    by_name[op] = by_name.at(from);

  // What reads parameters alone is where these are updated, what reads inputs alone where the first reader is.
  constexpr std::uint32_t kOpen = kNone - 1;
  const std::map<OpId, std::uint32_t> of_tables = updates_of_tables(graph, network.partition);
  std::vector<std::uint32_t> places(graph.ops.size(), kOpen);
  for (OpId id = 0; id < graph.ops.size(); ++id) {
    const auto named = by_name.find(graph.ops[id].name);
    if (named != by_name.end()) {
      places[id] = named->second;
      continue;
    }
    if (const auto table = of_tables.find(id); table != of_tables.end()) {
      places[id] = table->second;
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
    if (places[id] == kOpen) places[id] = network.partition.places() - 1;
  }
  return places;
}

} // namespace gradweave::graph
