#include "train/product_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::runtime::train {
namespace {

using compiler::Pass;
using graph::Graph;
using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::Product;
using graph::ProductKind;
using LayerTensor = compiler::Tensor;

/// A product of the graph.
struct Found {
  OpId op = kNone;
  Product product;
  bool taken = false;
};

class Planner {
public:
  explicit Planner(const Graph &graph) : graph_(graph) {
    for (OpId id = 0; id < graph.ops.size(); ++id) {
      const Op &op = graph.ops[id];
      if (op.type->lower == nullptr) continue;
      if (const auto product = op.type->lower({graph, op}).product) found_.push_back({id, *product, false});
    }
  }

  ProductPlan run() {
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (!found_[i].taken) place(i);
    std::sort(plan_.passes.begin(), plan_.passes.end(),
              [](const ProductPass &a, const ProductPass &b) { return a.when() < b.when(); });
    return std::move(plan_);
  }

private:
  void place(std::size_t i) {
    Found &found = found_[i];
    const Op &op = graph_.ops[found.op];
    found.taken = true;
    if (continues(op)) {
      plan_.host.push_back({found.op, "it goes on with a sum, and streams begin sums with +0"});
      return;
    }
    if (found.product.kind == ProductKind::kForward) return add_forward(found);
    const bool input = found.product.kind == ProductKind::kInputGradient;
    Found *other = partner(found);
    if (other != nullptr) other->taken = true;
    if (input && other == nullptr) return add_input_gradient(found);
    add_backward(input ? &found : other, input ? *other : found);
  }

  bool continues(const Op &op) const {
    for (std::size_t i = 2; i < op.inputs.size(); ++i)
      if (op.inputs[i] != kNone) return true;
    return false;
  }

  static std::size_t place_of_dy(ProductKind kind) { return kind == ProductKind::kInputGradient ? 0 : 1; }

  graph::TensorId dy_of(const Found &f) const { return graph_.ops[f.op].inputs[place_of_dy(f.product.kind)]; }

  /// The other gradient of the product, if it can wait for the later of the two.
  Found *partner(const Found &found) {
    for (Found &other : found_) {
      const Product &p = found.product, &q = other.product;
      if (other.taken || q.kind == p.kind || q.kind == ProductKind::kForward || dy_of(other) != dy_of(found)) continue;
      if (p.m != q.m || p.k != q.k || p.n != q.n || p.groups != q.groups || p.grouping != q.grouping) continue;
      if (p.conv.has_value() != q.conv.has_value() || (p.conv && !p.conv->reads_like(*q.conv))) continue;
      if (continues(graph_.ops[other.op]) || read_between(found.op, other.op)) continue;
      return &other;
    }
    return nullptr;
  }

  bool read_between(OpId one, OpId other) const {
    const auto [first, last] = std::minmax(one, other);
    const std::vector<graph::TensorId> &results = graph_.ops[first].outputs;
    for (OpId id = first + 1; id < last; ++id)
      for (const graph::TensorId input : graph_.ops[id].inputs)
        if (input != kNone && std::find(results.begin(), results.end(), input) != results.end()) return true;
    return false;
  }

  compiler::Layer layer_of(const Found &f, bool transposed) const {
    compiler::Layer layer;
    layer.name = graph_.ops[f.op].name;
    layer.m = f.product.m;
    layer.k = transposed ? f.product.n : f.product.k;
    layer.n = transposed ? f.product.k : f.product.n;
    layer.groups = f.product.groups;
    return layer;
  }

  bool leaves_fp32(graph::TensorId id) const { return graph_.tensors[id].type == graph::ElementType::kFp32; }

  PlacedTensor placed(graph::TensorId id, LayerTensor as, const Product &p, bool transposed = false) const {
    const bool image = p.conv && !p.conv->is_pointwise() && (as == LayerTensor::kX || as == LayerTensor::kDX);
    return {id, as, p.grouping == Product::Grouping::kBatch, transposed,
            image ? std::optional<Convolution>(*p.conv) : std::nullopt};
  }

  void add_forward(const Found &f) {
    const Op &op = graph_.ops[f.op];
    ProductPass pass;
    pass.ops = {f.op};
    pass.layer = layer_of(f, false);
    pass.layer.y_fp32 = leaves_fp32(op.outputs[0]);
    pass.pass = Pass::kForward;
    pass.inputs = {placed(op.inputs[0], LayerTensor::kX, f.product, f.product.transposed_a),
                   placed(op.inputs[1], LayerTensor::kW, f.product, f.product.transposed_b)};
    pass.results = {placed(op.outputs[0], LayerTensor::kY, f.product)};
    plan_.passes.push_back(std::move(pass));
  }

  /// dX = dY W^T as a product of its own: its X is dY, its W the transposed weights, its Y dX.
  void add_input_gradient(const Found &f) {
    const Op &op = graph_.ops[f.op];
    ProductPass pass;
    pass.ops = {f.op};
    pass.layer = layer_of(f, true);
    pass.layer.y_fp32 = leaves_fp32(op.outputs[0]);
    pass.pass = Pass::kForward;
    PlacedTensor w = placed(op.inputs[1], LayerTensor::kW, f.product, !f.product.transposed_b);
    w.batch = true; // matrices of weights lie one below the other in any case
    PlacedTensor dx = placed(op.outputs[0], LayerTensor::kDX, f.product);
    dx.as = LayerTensor::kY;
    pass.inputs = {placed(op.inputs[0], LayerTensor::kX, {ProductKind::kForward, 0, 0, 0, 1, {}, f.product.grouping}),
                   w};
    pass.results = {dx};
    plan_.passes.push_back(std::move(pass));
  }

  void add_backward(const Found *dx, const Found &dw) {
    const Op &weights = graph_.ops[dw.op];
    ProductPass pass;
    pass.ops = {dw.op};
    pass.layer = layer_of(dw, false);
    pass.layer.dx = dx != nullptr;
    pass.pass = Pass::kBackward;
    pass.inputs = {placed(weights.inputs[0], LayerTensor::kX, dw.product, dw.product.transposed_a),
                   placed(weights.inputs[1], LayerTensor::kDY, dw.product)};
    pass.results = {placed(weights.outputs[0], LayerTensor::kDW, dw.product)};
    if (dx != nullptr) {
      const Op &input = graph_.ops[dx->op];
      pass.ops = {std::min(dw.op, dx->op), std::max(dw.op, dx->op)};
      pass.layer.dx_fp32 = leaves_fp32(input.outputs[0]);
      pass.inputs.push_back(placed(input.inputs[1], LayerTensor::kW, dx->product, dx->product.transposed_b));
      pass.results.push_back(placed(input.outputs[0], LayerTensor::kDX, dx->product));
    }
    plan_.passes.push_back(std::move(pass));
  }

  const Graph &graph_;
  std::vector<Found> found_;
  ProductPlan plan_;
};

} // namespace

std::vector<std::size_t> ProductPlan::pass_of_ops(std::size_t ops) const {
  std::vector<std::size_t> pass_of(ops);
  for (std::size_t pass = 0; pass < passes.size(); ++pass)
    for (const OpId op : passes[pass].ops)
      pass_of[op] = pass + 1;
  return pass_of;
}

ProductPlan plan_products(const Graph &graph) { return Planner(graph).run(); }

} // namespace gradweave::runtime::train
