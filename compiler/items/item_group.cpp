#include "compiler/items/item_group.hpp"

#include "compiler/vector/lower_op.hpp"
#include "graph/ir/operator.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

using graph::Graph;
using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::TensorId;

class Finder {
public:
  explicit Finder(const Graph &graph)
      : graph_(graph), taken_(graph.ops.size()), inside_(graph.tensors.size()), touched_(graph.tensors.size()) {}

  std::vector<ItemGroup> run() {
    for (OpId op = 0; op < graph_.ops.size(); ++op) {
      const std::optional<BatchedProduct> product = taken_[op] ? std::nullopt : batched_product(graph_, op);
      if (!product || product->items < 2) continue;
      ItemGroup group = grown_from(op, product->items);
      if (!hands_on(group)) continue;
      for (const OpId member : group.ops)
        taken_[member] = true;
      groups_.push_back(std::move(group));
    }
    return std::move(groups_);
  }

private:
  /// Ops in the order of the graph, up to the first that reads a member's result and is none.
  ItemGroup grown_from(OpId first, std::size_t items) {
    inside_.assign(inside_.size(), false);
    touched_.assign(touched_.size(), false);
    ItemGroup group;
    group.items = items;
    for (OpId op = first; op < graph_.ops.size(); ++op) {
      if (op == first || belongs(op, items))
        add(group, op);
      else if (reads(op, inside_))
        break;
    }
    drop_ends(group);
    return group;
  }

  bool belongs(OpId op, std::size_t items) const {
    if (taken_[op]) return false;
    if (const auto product = batched_product(graph_, op)) return product->items == items && reads(op, touched_);
    return reads(op, inside_) && has_jobs(*graph_.ops[op].type) && !moves_only(graph_.ops[op]);
  }

  /// What changes no element has no place between products of an item.
  static bool moves_only(const Op &op) {
    return op.type->name == "Reshape" || op.type->name == "Flatten" || op.type->name == "Transpose";
  }

  bool reads(OpId op, const std::vector<bool> &tensors) const {
    const auto &inputs = graph_.ops[op].inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](TensorId id) { return id != kNone && tensors[id]; });
  }

  void add(ItemGroup &group, OpId op) {
    group.ops.push_back(op);
    for (const TensorId id : graph_.ops[op].outputs)
      if (id != kNone) inside_[id] = touched_[id] = true;
    if (!batched_product(graph_, op)) return;
    for (const TensorId id : graph_.ops[op].inputs)
      touched_[id] = true;
  }

  /// Operators that no product of the group follows, and what comes behind the first of these.
  void drop_ends(ItemGroup &group) const {
    std::vector<bool> wanted(graph_.tensors.size());
    std::size_t keep = group.ops.size();
    for (std::size_t i = group.ops.size(); i-- > 0;) {
      const Op &op = graph_.ops[group.ops[i]];
      const bool product = batched_product(graph_, group.ops[i]).has_value();
      const bool leads_on =
          std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId id) { return id != kNone && wanted[id]; });
      if (!product && !leads_on)
        keep = i;
      else
        for (const TensorId id : op.inputs)
          if (id != kNone) wanted[id] = true;
    }
    const bool shorter = keep < group.ops.size();
    group.ops.resize(keep);
    if (shorter) drop_ends(group);
  }

  bool hands_on(const ItemGroup &group) const {
    std::vector<bool> given(graph_.tensors.size());
    bool any = false;
    for (const OpId op : group.ops) {
      any = any || reads(op, given);
      for (const TensorId id : graph_.ops[op].outputs)
        if (id != kNone) given[id] = true;
    }
    return any;
  }

  const Graph &graph_;
  std::vector<bool> taken_;   ///< ops of groups
  std::vector<bool> inside_;  ///< tensors that the group at hand gives
  std::vector<bool> touched_; ///< those, and operands of its products
  std::vector<ItemGroup> groups_;
};

} // namespace

std::optional<BatchedProduct> batched_product(const Graph &graph, OpId id) {
  const Op &op = graph.ops[id];
  if (op.type->lower == nullptr || op.inputs.size() != 2) return std::nullopt;
  const auto product = op.type->lower({graph, op}).product;
  if (!product || product->kind != graph::ProductKind::kForward ||
      product->grouping != graph::Product::Grouping::kBatch)
    return std::nullopt;
  const auto is_batch = [&](TensorId tensor, std::size_t elements) {
    return graph.tensors[tensor].shape.elements() == elements * product->groups;
  };
  const std::size_t m = product->m, n = product->n, k = product->k;
  if (!is_batch(op.inputs[0], m * k) || !is_batch(op.inputs[1], k * n) || !is_batch(op.outputs[0], m * n))
    return std::nullopt;
  return BatchedProduct{product->groups,       product->m,           product->n, product->k,
                        product->transposed_a, product->transposed_b};
}

std::vector<ItemGroup> find_item_groups(const Graph &graph) { return Finder(graph).run(); }

} // namespace gradweave::compiler
