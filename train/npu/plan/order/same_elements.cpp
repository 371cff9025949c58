#include "train/npu/plan/order/same_elements.hpp"

#include <algorithm>
#include <numeric>

namespace gradweave::runtime::train {
namespace {

using graph::Graph;
using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::TensorId;

class Finder {
public:
  Finder(const Graph &graph, const ProductPlan &products)
      : graph_(graph), products_(products), readers_(graph.consumers()),
        pass_of_(products.pass_of_ops(graph.ops.size())), strided_(graph.tensors.size()) {}

  Views run() {
    for (OpId id = 0; id < graph_.ops.size(); ++id) {
      const Op &op = graph_.ops[id];
      if (op.type->name == "Reshape" || op.type->name == "Flatten")
        reshape(id, op.inputs[0], op.outputs[0]);
      else if (op.type->name == "Transpose")
        transpose(id, op.inputs[0], op.outputs[0], op.attributes.integers("perm"));
    }
    return std::move(views_);
  }

private:
  /// Whether another value may come into the place: of what lives from step to step.
  bool changes(TensorId id) const {
    const graph::Role role = graph_.tensors[id].role;
    return role == graph::Role::kParameter || role == graph::Role::kState || role == graph::Role::kUpdated;
  }

  void reshape(OpId op, TensorId from, TensorId to) {
    if (changes(from) || changes(to) || strided_[from]) return;
    add(op, {to, from, {}});
  }

  void transpose(OpId op, TensorId from, TensorId to, const std::vector<std::int64_t> &perm) {
    if (changes(from) || changes(to) || strided_[from]) return;
    const std::size_t rank = perm.size();
    if (rank < 3 || perm.back() != static_cast<std::int64_t>(rank - 1)) return; // rows stay whole
    if (only_matrices(to)) {
      const std::vector<std::size_t> strides = strides_of(graph_.tensors[from].shape);
      std::vector<std::size_t> turned;
      for (const std::int64_t axis : perm)
        turned.push_back(strides[static_cast<std::size_t>(axis)]);
      strided_[to] = true;
      add(op, {to, from, std::move(turned)});
    } else if (from_product(from) && readers_[from].size() == 1 && !is_result(graph_, from)) {
      const std::vector<std::size_t> strides = strides_of(graph_.tensors[to].shape);
      std::vector<std::size_t> turned(rank);
      for (std::size_t axis = 0; axis < rank; ++axis)
        turned[static_cast<std::size_t>(perm[axis])] = strides[axis];
      strided_[from] = true;
      add(op, {from, to, std::move(turned)});
    }
  }

  static std::vector<std::size_t> strides_of(const graph::Shape &shape) {
    std::vector<std::size_t> strides(shape.rank());
    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
      strides[axis] = shape.count(axis + 1, shape.rank());
    return strides;
  }

  /// Whether all that is done with a tensor is to read it as the batch of matrices of a product.
  bool only_matrices(TensorId id) const {
    if (is_result(graph_, id) || readers_[id].empty()) return false;
    return std::all_of(readers_[id].begin(), readers_[id].end(), [&](OpId reader) { return in_batches(reader, id); });
  }

  bool in_batches(OpId op, TensorId id) const {
    if (pass_of_[op] == 0) return false;
    bool found = false;
    for (const ProductPass &pass : products_.passes) {
      if (std::find(pass.ops.begin(), pass.ops.end(), op) == pass.ops.end()) continue;
      for (const std::vector<PlacedTensor> *tensors : {&pass.inputs, &pass.results})
        for (const PlacedTensor &placed : *tensors)
          if (placed.id == id) {
            if (!is_batch(placed, pass)) return false;
            found = true;
          }
    }
    return found;
  }

  /// Each matrix is the last two dimensions.
  bool is_batch(const PlacedTensor &placed, const ProductPass &pass) const {
    const graph::Shape &shape = graph_.tensors[placed.id].shape;
    return placed.batch && placed.form == Form::kMatrix && shape.count(0, shape.rank() - 2) == pass.layer.groups;
  }

  bool from_product(TensorId id) const {
    const OpId producer = graph_.tensors[id].producer;
    return producer != kNone && in_batches(producer, id);
  }

  void add(OpId op, View view) {
    views_.views.push_back(std::move(view));
    views_.ops.push_back(op);
  }

  const Graph &graph_;
  const ProductPlan &products_;
  graph::Consumers readers_;
  std::vector<std::size_t> pass_of_;
  std::vector<bool> strided_;
  Views views_;
};

} // namespace

bool is_result(const Graph &graph, TensorId id) {
  return id == graph.loss || std::find(graph.results.begin(), graph.results.end(), id) != graph.results.end();
}

Views find_views(const Graph &graph, const ProductPlan &products) { return Finder(graph, products).run(); }

} // namespace gradweave::runtime::train
