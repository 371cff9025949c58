#include "graph/partition/micro_batches.hpp"

#include "graph/build/builder.hpp"
#include "graph/partition/batch_rows.hpp"
#include "graph/partition/begin_like.hpp"
#include "graph/partition/row_wise.hpp"
#include "graph/passes/dead_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace gradweave::graph {
namespace {

using Units = BatchRows::Units;

Attributes axis_0() {
  Attributes attributes;
  attributes.set("axis", std::int64_t{0});
  return attributes;
}

class Slicer {
public:
  Slicer(const PlacedStep &placed, const Partition &partition, const OperatorSet &operators, std::uint32_t micro)
      : from_(placed.step.graph), places_(placed.places), micro_(micro),
        rows_(from_, placed.step.micro_batches.front(), partition, micro) {
    Graph &graph = result_.step.graph;
    whole_ = begin_like(graph, from_);
    build_.emplace(graph, operators);
  }

  PlacedStep run(const TrainingGraph &step) {
    for (op_ = 0; op_ < from_.ops.size(); ++op_)
      place();
    finish(step);
    return std::move(result_);
  }

private:
  void place() {
    const Op &op = from_.ops[op_];
    if (rows_.view(op_)) return;
    if (const auto inputs = rows_.sliced(op_)) {
      for (std::uint32_t k = 0; k < micro_; ++k)
        append_piece(*inputs, k);
      return;
    }
    const Units own = rows_.of_one_micro_batch(op_);
    std::vector<TensorId> inputs;
    for (const TensorId input : op.inputs)
      inputs.push_back(input == kNone ? kNone : whole(input));
    const std::vector<TensorId> outputs = append(inputs, op.attributes);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (op.outputs[o] == kNone) continue;
      whole_[op.outputs[o]] = outputs[o];
      rows_.set(op.outputs[o], own, false);
    }
  }

  void append_piece(const std::vector<RowInput> &kinds, std::uint32_t k) {
    const Op &op = from_.ops[op_];
    std::vector<TensorId> inputs;
    Units own;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const bool rows = op.inputs[i] != kNone && kinds[i] == RowInput::kRow;
      if (rows) own = rows_.of(op.inputs[i]);
      inputs.push_back(op.inputs[i] == kNone ? kNone : rows ? piece(op.inputs[i], k) : whole(op.inputs[i]));
    }
    if (const TensorId all = whole_batch_of_loss({from_, op}); all != kNone && inputs.size() == 3)
      inputs.push_back(whole(all));
    const std::vector<TensorId> outputs = append(inputs, attributes_of_rows({from_, op}, 1, micro_), k);
    for (std::size_t o = 0; o < op.outputs.size(); ++o) {
      if (op.outputs[o] == kNone) continue;
      pieces_[{op.outputs[o], k}] = outputs[o];
      rows_.set(op.outputs[o], own, true);
    }
  }

  std::vector<TensorId> append(const std::vector<TensorId> &inputs, const Attributes &attributes,
                               std::uint32_t k = kNone) {
    const Op &op = from_.ops[op_];
    const std::string suffix = k == kNone ? "" : fmt::format(".micro{}", k);
    std::vector<std::optional<std::string>> names;
    for (const TensorId output : op.outputs)
      names.push_back(output == kNone ? std::nullopt : std::optional<std::string>(from_.tensors[output].name + suffix));
    build_->at(op.where);
    auto made = build_->add_named(op.type->name, inputs, attributes, op.name + suffix, names);
    result_.step.graph.ops.back().recompute = op.recompute;
    note_place(places_[op_], k);
    for (std::size_t o = 0; o < op.outputs.size(); ++o)
      if (op.outputs[o] != kNone) like(made[o], from_.tensors[op.outputs[o]]);
    return made;
  }

  /// All ops added since the last call.
  void note_place(std::uint32_t place, std::uint32_t micro = kNone) {
    result_.places.resize(result_.step.graph.ops.size(), place);
    result_.micro_batch_of.resize(result_.step.graph.ops.size(), micro);
  }

  void like(TensorId made, const Tensor &tensor) {
    Tensor &own = result_.step.graph.tensors[made];
    own.type = tensor.type;
    own.role = tensor.computed() ? tensor.role : Role::kActivation;
    own.fixed_type = tensor.fixed_type;
  }

  bool at_host(TensorId id) const {
    const OpId producer = from_.tensors[id].producer;
    return producer == kNone || places_[producer] == kHostPlace;
  }

  std::uint32_t place_of(TensorId id) const { return at_host(id) ? kHostPlace : places_[from_.tensors[id].producer]; }

  /// `tensor` has rows of `id`: those of all of `units`, which it is split into.
  std::vector<TensorId> split(TensorId id, TensorId tensor, const std::vector<Units> &units, std::uint32_t place) {
    std::uint32_t all = 0;
    for (const Units &part : units)
      all += rows_.shares(part);
    const std::uint32_t rows = build_->shape(tensor)[0] / all;
    std::vector<std::int64_t> sizes;
    for (const Units &part : units)
      sizes.push_back(std::int64_t{rows} * rows_.shares(part));
    Attributes attributes = axis_0();
    attributes.set("split", sizes);
    auto made = build_->add_all(split_of(from_.tensors[id].type), {tensor}, attributes,
                                build_->fresh(from_.tensors[id].name + ".rows"), sizes.size());
    note_place(place);
    for (const TensorId part : made)
      like(part, from_.tensors[id]);
    return made;
  }

  static std::vector<Units> one_by_one(const Units &units) {
    std::vector<Units> all;
    for (const std::uint32_t unit : units)
      all.push_back({unit});
    return all;
  }

  TensorId join(TensorId id, const std::vector<TensorId> &parts, std::uint32_t place, const std::string &name) {
    if (parts.size() == 1) return parts.front();
    const TensorId made = build_->add(concat_of(from_.tensors[id].type), parts, axis_0(), build_->fresh(name));
    note_place(place);
    like(made, from_.tensors[id]);
    return made;
  }

  /// The rows of micro-batch k of a tensor that has some.
  TensorId piece(TensorId id, std::uint32_t k) {
    if (const auto known = pieces_.find({id, k}); known != pieces_.end()) return known->second;
    const std::string name = fmt::format("{}.micro{}", from_.tensors[id].name, k);
    const OpId producer = from_.tensors[id].producer;
    if (!rows_.in_pieces(id) && rows_.one_micro_batch(id)) return pieces_[{id, k}] = whole(id);
    if (rows_.in_pieces(id) && BatchRows::along_rows(from_.ops[producer], "Concat")) {
      std::vector<TensorId> parts;
      for (const TensorId input : from_.ops[producer].inputs)
        if (!rows_.of_micro_batch(input, k).empty()) parts.push_back(piece(input, k));
      return pieces_[{id, k}] = join(id, parts, places_[producer], name);
    }
    if (rows_.in_pieces(id)) {
      split_piece(producer, k);
      return pieces_.at({id, k});
    }
    std::vector<TensorId> parts;
    const std::vector<TensorId> &all = fine(id);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (rows_.of(id)[i] % micro_ == k) parts.push_back(all[i]);
    return pieces_[{id, k}] = join(id, parts, place_of(id), name);
  }

  /// The results of a Split, as far as they are in micro-batch k, from that of what it splits.
  void split_piece(OpId op, std::uint32_t k) {
    const TensorId from = piece(from_.ops[op].inputs[0], k);
    std::vector<TensorId> outputs;
    std::vector<Units> units;
    for (const TensorId output : from_.ops[op].outputs) {
      if (output == kNone) continue;
      const Units own = rows_.of_micro_batch(output, k);
      if (own.empty()) continue;
      outputs.push_back(output);
      units.push_back(own);
    }
    const std::vector<TensorId> parts =
        outputs.size() == 1 ? std::vector<TensorId>{from} : split(outputs.front(), from, units, places_[op]);
    for (std::size_t o = 0; o < outputs.size(); ++o)
      pieces_[{outputs[o], k}] = parts[o];
  }

  /// The units of a tensor that is there as a whole.
  const std::vector<TensorId> &fine(TensorId id) {
    if (const auto known = fine_.find(id); known != fine_.end()) return known->second;
    return fine_[id] = split(id, whole(id), one_by_one(rows_.of(id)), place_of(id));
  }

  TensorId whole(TensorId id) {
    if (whole_[id] != kNone && !(at_host(id) && fine_.count(id) > 0)) return whole_[id];
    if (at_host(id) && fine_.count(id) > 0) { // who reads all of it has read the pieces
      const auto key = std::make_pair(id, places_[op_]);
      if (const auto known = gathered_.find(key); known != gathered_.end()) return known->second;
      return gathered_[key] = join(id, fine_.at(id), places_[op_], from_.tensors[id].name + ".all");
    }
    if (rows_.in_pieces(id)) return whole_[id] = from_pieces(id);
    // A view of what is in no pieces.
    const OpId op = from_.tensors[id].producer;
    const OpId now = std::exchange(op_, op);
    std::vector<TensorId> inputs;
    for (const TensorId input : from_.ops[op].inputs)
      inputs.push_back(whole(input));
    const std::vector<TensorId> outputs = append(inputs, from_.ops[op].attributes);
    for (std::size_t o = 0; o < outputs.size(); ++o)
      if (from_.ops[op].outputs[o] != kNone) whole_[from_.ops[op].outputs[o]] = outputs[o];
    op_ = now;
    return whole_[id];
  }

  /// In the order that the tensor has.
  TensorId from_pieces(TensorId id) {
    std::map<std::uint32_t, TensorId> by_unit;
    std::vector<TensorId> in_order;
    Units order;
    for (std::uint32_t k = 0; k < micro_; ++k) {
      const Units own = rows_.of_micro_batch(id, k);
      if (own.empty()) continue;
      in_order.push_back(piece(id, k));
      order.insert(order.end(), own.begin(), own.end());
    }
    if (order == rows_.of(id)) return join(id, in_order, place_of(id), from_.tensors[id].name);
    std::size_t at = 0;
    for (std::uint32_t k = 0; k < micro_; ++k) {
      const Units own = rows_.of_micro_batch(id, k);
      if (own.empty()) continue;
      const TensorId all = in_order[at++];
      const std::vector<TensorId> parts =
          own.size() == 1 ? std::vector<TensorId>{all} : split(id, all, one_by_one(own), place_of(id));
      for (std::size_t i = 0; i < own.size(); ++i)
        by_unit[own[i]] = parts[i];
    }
    std::vector<TensorId> sorted;
    for (const std::uint32_t unit : rows_.of(id))
      sorted.push_back(by_unit.at(unit));
    return join(id, sorted, place_of(id), from_.tensors[id].name);
  }

  void finish(const TrainingGraph &step) {
    op_ = static_cast<OpId>(from_.ops.size()) - 1; // what the step keeps is kept where its last op is
    Graph &graph = result_.step.graph;
    for (const Update &update : from_.updates)
      graph.updates.push_back({whole_[update.tensor], whole(update.next)});
    for (const TensorId id : from_.results)
      graph.results.push_back(whole(id));
    if (from_.loss != kNone) graph.loss = whole(from_.loss);
    std::vector<TensorId> kept;
    for (const ParameterGradient &g : step.gradients)
      kept.insert(kept.end(), {whole_[g.parameter], whole(g.gradient)});
    for (const MicroBatch &batch : step.micro_batches) {
      kept.push_back(whole(batch.loss));
      for (const auto &[forward, id] : batch.inputs)
        kept.push_back(whole_[id]);
    }
    if (step.constants != kNone) kept.push_back(whole_[step.constants]);
    std::map<std::string, std::pair<std::uint32_t, std::uint32_t>> known;
    for (OpId id = 0; id < graph.ops.size(); ++id)
      known[graph.ops[id].name] = {result_.places[id], result_.micro_batch_of[id]};
    drop_dead_code(graph, &kept);
    result_.places.clear();
    result_.micro_batch_of.clear();
    for (const Op &op : graph.ops) {
      result_.places.push_back(known.at(op.name).first);
      result_.micro_batch_of.push_back(known.at(op.name).second);
    }
    take_kept(step, kept);
    verify(graph);
  }

  void take_kept(const TrainingGraph &step, const std::vector<TensorId> &kept) {
    auto next = kept.begin();
    for (std::size_t i = 0; i < step.gradients.size(); ++i) {
      const TensorId parameter = *next++;
      result_.step.gradients.push_back({parameter, *next++});
    }
    for (const MicroBatch &batch : step.micro_batches) {
      MicroBatch &own = result_.step.micro_batches.emplace_back();
      own.loss = *next++;
      for (const auto &[forward, id] : batch.inputs)
        own.inputs.emplace_back(forward, *next++);
    }
    if (step.constants != kNone) result_.step.constants = *next;
  }

  const Graph &from_;
  const std::vector<std::uint32_t> &places_;
  std::uint32_t micro_;
  BatchRows rows_;
  PlacedStep result_;
  std::optional<Builder> build_;
  std::vector<TensorId> whole_; ///< of each tensor, in the new graph
  std::map<std::pair<TensorId, std::uint32_t>, TensorId> pieces_;
  std::map<TensorId, std::vector<TensorId>> fine_;
  std::map<std::pair<TensorId, std::uint32_t>, TensorId> gathered_; ///< by place
  OpId op_ = 0;                                                     ///< that is being placed
};

} // namespace

PlacedStep in_micro_batches(PlacedStep placed, const Partition &partition, const OperatorSet &operators,
                            std::uint32_t micro_batches) {
  if (micro_batches == 1) return placed;
  if (placed.step.micro_batches.size() != 1)
    throw GraphError(fmt::format("graph '{}': {} batches make one step; micro-batches of a pipeline are those of one",
                                 placed.step.graph.name, placed.step.micro_batches.size()));
  return Slicer(placed, partition, operators, micro_batches).run(placed.step);
}

} // namespace gradweave::graph
