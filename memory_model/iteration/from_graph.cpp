#include "memory_model/iteration/from_graph.hpp"

#include "graph/passes/gradient.hpp"
#include "memory_model/iteration/layers.hpp"
#include "memory_model/iteration/sums.hpp"
#include "memory_model/iteration/ways_back.hpp"

#include <algorithm>
#include <map>

namespace gradweave::memory_model {
namespace {

using graph::Graph;
using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::TensorId;

class IterationBuilder {
public:
  IterationBuilder(const Graph &forward, const graph::OperatorSet &operators, const IterationOptions &options)
      : graph_(forward), options_(options), ways_back_(operators, options.separate_layers),
        forward_ops_(forward.ops.size()) {
    ways_back_.apply(graph_);
    if (!options.forward_only) gradients_ = graph::add_gradients(graph_, operators, {}, 1, &derived_from_);
    const Views views{!options.separate_layers};
    shown_ = shown_tensors(graph_, views);
    layers_ = find_layers(graph_, forward_ops_, views);
    order_ = execution_order(graph_, layers_, shown_);
  }

  Iteration run() {
    place_ops();
    place_sums();
    find_lasting();
    result_.name = graph_.name;
    for (const auto &ops : ops_of_step_)
      add_step(ops);
    drop_unused();
    return std::move(result_);
  }

private:
  bool is_sum(OpId op) const { return op >= forward_ops_ && derived_from_[op - forward_ops_] == kNone; }
  std::uint32_t steps() const { return static_cast<std::uint32_t>(order_.size() * (options_.forward_only ? 1 : 2)); }
  TensorId storage(TensorId tensor) const {
    for (tensor = shown_[tensor]; merged_[tensor] != tensor;)
      tensor = shown_[merged_[tensor]];
    return tensor;
  }

  /// Into which step each op goes, but for sums of gradients.
  void place_ops() {
    std::vector<std::uint32_t> position(layers_.members.size());
    for (std::uint32_t i = 0; i < order_.size(); ++i)
      position[order_[i]] = i;
    step_of_op_.assign(graph_.ops.size(), kNever);
    for (OpId o = 0; o < graph_.ops.size(); ++o) {
      if (is_sum(o)) continue;
      const bool back = o >= forward_ops_;
      const std::uint32_t layer = layers_.of_op[back ? derived_from_[o - forward_ops_] : o];
      if (layer == kNoLayer) continue; // a view's way back is a view
      step_of_op_[o] = back ? steps() - 1 - position[layer] : position[layer];
    }
    ops_of_step_.resize(steps());
    for (OpId o = 0; o < graph_.ops.size(); ++o)
      if (step_of_op_[o] != kNever) ops_of_step_[step_of_op_[o]].push_back(o);
  }

  std::uint32_t written_at(TensorId tensor) const {
    if (const auto sum = step_of_sum_.find(tensor); sum != step_of_sum_.end()) return sum->second;
    const OpId producer = graph_.tensors[shown_[tensor]].producer;
    return producer == kNone || step_of_op_[producer] == kNever ? 0 : step_of_op_[producer];
  }

  /// A sum that is read by another sum and nobody else is a part of that.
  bool is_inner(OpId op) const {
    return is_sum(op) && read_by_sum_[op] && ops_that_read_[graph_.ops[op].outputs[0]] == 1;
  }

  /// Parts of a sum of gradients in the order in which they are computed.
  std::vector<TensorId> parts_of(OpId sum) const {
    std::vector<TensorId> parts;
    for (const TensorId input : graph_.ops[sum].inputs) {
      const OpId producer = graph_.tensors[input].producer;
      if (producer != kNone && is_inner(producer)) {
        const std::vector<TensorId> inner = parts_of(producer);
        parts.insert(parts.end(), inner.begin(), inner.end());
      } else {
        parts.push_back(shown_[input]);
      }
    }
    return parts;
  }

  /// Each step adds its part to the sum so far, in the place of the first part if nobody reads that later on.
  void place_sums() {
    merged_ = shown_;
    additions_.resize(steps());
    read_by_sum_.assign(graph_.ops.size(), false);
    ops_that_read_.assign(graph_.tensors.size(), 0);
    std::vector<std::uint32_t> last_read(graph_.tensors.size());
    for (OpId o = 0; o < graph_.ops.size(); ++o)
      for (const TensorId input : graph_.ops[o].inputs) {
        if (input == kNone) continue;
        const OpId producer = graph_.tensors[input].producer;
        if (is_sum(o) && producer != kNone) read_by_sum_[producer] = true;
        ++ops_that_read_[input];
        if (step_of_op_[o] != kNever) last_read[shown_[input]] = std::max(last_read[shown_[input]], step_of_op_[o]);
      }
    for (OpId o = static_cast<OpId>(forward_ops_); o < graph_.ops.size(); ++o)
      if (is_sum(o) && !is_inner(o)) place_sum(o, last_read);
  }

  void place_sum(OpId sum, const std::vector<std::uint32_t> &last_read) {
    std::vector<TensorId> parts = parts_of(sum);
    std::sort(parts.begin(), parts.end(), [this](TensorId a, TensorId b) {
      return std::make_pair(written_at(a), a) < std::make_pair(written_at(b), b);
    });
    const TensorId total = graph_.ops[sum].outputs[0];
    const std::uint32_t second = written_at(parts[1]);
    const bool in_place = written_at(parts[0]) < second && last_read[parts[0]] <= second;
    if (in_place)
      merged_[total] = parts[0];
    else
      step_of_sum_[total] = second;
    for (std::size_t p = 1; p < parts.size(); ++p) {
      const std::uint32_t step = written_at(parts[p]);
      const bool first = p == 1 && !in_place;
      additions_[step].push_back({total, first ? parts[0] : total});
    }
  }

  /// What has to be in memory in the end.
  void find_lasting() {
    lasts_.assign(graph_.tensors.size(), false);
    of_weight_.assign(graph_.tensors.size(), false);
    for (const graph::ParameterGradient &gradient : gradients_)
      lasts_[storage(gradient.gradient)] = of_weight_[storage(gradient.gradient)] = true;
    for (const graph::Update &update : graph_.updates)
      lasts_[storage(update.next)] = true;
    for (const TensorId result : graph_.results)
      lasts_[storage(result)] = true;
    readers_.assign(graph_.tensors.size(), {});
    for (OpId o = 0; o < graph_.ops.size(); ++o)
      if (step_of_op_[o] != kNever)
        for (const TensorId input : graph_.ops[o].inputs)
          if (input != kNone) readers_[storage(input)].push_back(step_of_op_[o]);
    for (std::uint32_t s = 0; s < additions_.size(); ++s)
      for (const Addition &addition : additions_[s])
        readers_[storage(addition.to)].push_back(s);
  }

  /// Whether only the step sees the tensor, or nobody does.
  bool is_internal(TensorId stored, std::uint32_t step) const {
    return !lasts_[stored] && std::all_of(readers_[stored].begin(), readers_[stored].end(),
                                          [step](std::uint32_t reader) { return reader == step; });
  }

  bool written_before(TensorId tensor, std::uint32_t step) const {
    return graph_.tensors[tensor].producer == kNone || written_at(tensor) < step;
  }

  static std::uint32_t taps(const Op &op) {
    for (const std::string_view name : {"kernel_shape", "window"})
      if (op.attributes.has(name)) return static_cast<std::uint32_t>(op.attributes.integers(name)[0]);
    return 1;
  }

  static void touch(Step &step, const Access &access) {
    const auto known = std::find_if(step.accesses.begin(), step.accesses.end(),
                                    [&](const Access &other) { return access.tensor == other.tensor; });
    if (known == step.accesses.end()) {
      step.accesses.push_back(access);
      return;
    }
    known->rows = std::max(known->rows, access.rows);
    known->products += access.products;
    known->reads |= access.reads;
    known->writes |= access.writes;
  }

  void add_step(const std::vector<OpId> &ops) {
    Step step;
    const auto index = static_cast<std::uint32_t>(result_.steps.size());
    step.backward = index >= order_.size();
    const std::uint32_t layer = order_[step.backward ? steps() - 1 - index : index];
    const Op &first = graph_.ops[layers_.members[layer].front()];
    step.name = first.name;
    step.layer = first.type->name;
    for (const OpId o : ops) {
      const Op &op = graph_.ops[o];
      const graph::OpView view{graph_, op};
      if (op.type->operations != nullptr) step.operations += op.type->operations(view);
      const auto product = op.type->lower == nullptr ? std::nullopt : op.type->lower(view).product;
      if (product) step.product = true;
      const std::uint32_t rows = product && product->conv ? product->conv->kernel_height : taps(op);
      if (product && product->conv && product->groups > 1) step.layer = "DepthwiseConv";
      for (const TensorId input : op.inputs)
        if (input != kNone && written_before(storage(input), index))
          touch(step, {storage(input), true, false, rows, product ? 1U : 0U});
      for (const TensorId output : op.outputs)
        if (output != kNone && !is_internal(storage(output), index))
          touch(step, {storage(output), false, true, rows, 0});
    }
    for (const Addition &addition : additions_[index]) {
      step.operations += static_cast<double>(graph_.tensors[addition.total].shape.elements());
      if (written_before(storage(addition.to), index)) touch(step, {storage(addition.to), true, false, 1, 0});
      touch(step, {storage(addition.total), false, true, 1, 0});
    }
    result_.steps.push_back(std::move(step));
  }

  /// Bytes of a tensor; of a table that is only gathered from, and of its gradient, those of the rows gathered.
  std::uint64_t bytes_of(TensorId id) const {
    const graph::Tensor &tensor = graph_.tensors[id];
    const auto size = [&](const graph::Tensor &t) {
      return t.shape.elements() * (graph::is_real(t.type) ? options_.element_bytes : graph::bytes_of(t.type));
    };
    std::uint64_t rows = 0;
    if (tensor.producer != kNone && graph_.ops[tensor.producer].type->name == "GatherGradient")
      rows = size(graph_.tensors[graph_.ops[tensor.producer].inputs[0]]);
    else if (tensor.role == graph::Role::kParameter)
      for (OpId o = 0; o < forward_ops_; ++o) {
        const Op &op = graph_.ops[o];
        if (std::find(op.inputs.begin(), op.inputs.end(), id) == op.inputs.end()) continue;
        if (op.type->name != "Gather") return size(tensor);
        rows += size(graph_.tensors[op.outputs[0]]);
      }
    return rows == 0 ? size(tensor) : std::min<std::uint64_t>(rows, size(tensor));
  }

  Tensor describe(TensorId id) const {
    const graph::Tensor &tensor = graph_.tensors[id];
    Tensor described;
    described.name = tensor.name;
    described.bytes = std::max<std::uint64_t>(bytes_of(id), 1);
    std::size_t rows = 1;
    for (std::size_t axis = 0; axis + (tensor.shape.rank() == 4 ? 2 : 1) < tensor.shape.rank(); ++axis)
      rows *= tensor.shape[axis];
    described.row_bytes = (described.bytes + rows - 1) / rows;
    described.in_memory = tensor.producer == kNone;
    described.to_memory = lasts_[id];
    described.weight = tensor.role == graph::Role::kParameter || of_weight_[id];
    return described;
  }

  void drop_unused() {
    std::vector<std::uint32_t> number(graph_.tensors.size(), kNever);
    std::vector<Step> kept;
    for (Step &step : result_.steps) {
      for (Access &access : step.accesses) {
        if (number[access.tensor] == kNever) {
          number[access.tensor] = static_cast<std::uint32_t>(result_.tensors.size());
          result_.tensors.push_back(describe(access.tensor));
        }
        access.tensor = number[access.tensor];
      }
      if (!step.accesses.empty()) kept.push_back(std::move(step));
    }
    result_.steps = std::move(kept);
  }

  /// A step's part is added `to` the sum so far, or to the first part, and makes `total`.
  struct Addition {
    TensorId total, to;
  };

  Graph graph_;
  IterationOptions options_;
  WaysBack ways_back_;
  std::size_t forward_ops_;
  std::vector<OpId> derived_from_;
  std::vector<graph::ParameterGradient> gradients_;
  std::vector<TensorId> shown_, merged_;
  Layers layers_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> step_of_op_; ///< kNever: in none
  std::vector<std::vector<OpId>> ops_of_step_;
  std::vector<bool> read_by_sum_;                 ///< by op
  std::vector<std::uint32_t> ops_that_read_;      ///< each tensor
  std::vector<std::vector<Addition>> additions_;  ///< by step
  std::map<TensorId, std::uint32_t> step_of_sum_; ///< of sums that take a place of their own: the first one
  std::vector<bool> lasts_, of_weight_;
  std::vector<std::vector<std::uint32_t>> readers_; ///< steps, by storage
  Iteration result_;
};

} // namespace

Iteration iteration_of(const graph::Graph &forward, const graph::OperatorSet &operators,
                       const IterationOptions &options) {
  Iteration result = IterationBuilder(forward, operators, options).run();
  result.element_bytes = options.element_bytes;
  if (options.separate_layers) result = sum_apart(result);
  check(result);
  return result;
}

} // namespace gradweave::memory_model
