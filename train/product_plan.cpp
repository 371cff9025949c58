#include "train/product_plan.hpp"

#include "compiler/cost/image_choice.hpp"
#include "train/kernel_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

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
  Planner(const Graph &graph, const MachineOf &machine, const PlanOptions &options)
      : graph_(graph), machine_(machine), options_(options) {
    for (OpId id = 0; id < graph.ops.size(); ++id) {
      const Op &op = graph.ops[id];
      if (op.type->lower == nullptr || (options.elsewhere && options.elsewhere(id))) continue;
      if (const auto product = op.type->lower({graph, op}).product) found_.push_back({id, *product, false});
    }
  }

  ProductPlan run() {
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (!found_[i].taken) place(i);
    std::sort(plan_.passes.begin(), plan_.passes.end(), [](const ProductPass &a, const ProductPass &b) {
      return std::make_pair(a.when(), a.results.front().phase) < std::make_pair(b.when(), b.results.front().phase);
    });
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
    if (found.product.kind == ProductKind::kForward) {
      plan_.passes.push_back(forward_pass(found));
      return;
    }
    const bool input = found.product.kind == ProductKind::kInputGradient;
    Found *other = partner(found);
    if (other != nullptr) other->taken = true;
    if (input && other == nullptr)
      add_input_gradient(found);
    else
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
    layer.channel_blocks = false; // bits are the step's, not a schedule's
    if (has_windows(f.product)) layer.conv = f.product.conv;
    return layer;
  }

  bool leaves_fp32(graph::TensorId id) const { return graph_.tensors[id].type == graph::ElementType::kFp32; }

  /// A convolution whose X is not the image itself.
  static bool has_windows(const Product &p) { return p.conv && !p.conv->is_pointwise(); }

  static PlacedTensor placed(graph::TensorId id, LayerTensor as, const Product &p, bool transposed = false) {
    PlacedTensor tensor{id, as, p.grouping == Product::Grouping::kBatch, transposed};
    if (as == LayerTensor::kX && has_windows(p)) {
      tensor.form = Form::kIm2col;
      tensor.conv = p.conv;
    }
    return tensor;
  }

  /// The same pass over the image as it lies.
  static ProductPass over_image(ProductPass pass) {
    pass.layer.image = true;
    for (PlacedTensor &tensor : pass.inputs)
      tensor.form = Form::kMatrix;
    return pass;
  }

  /// dW alone, `pass` by im2col, over an image whose pixels have all that kernel rows read; nothing if that cannot
  /// be.
  std::optional<ProductPass> by_kernel_rows(ProductPass pass) const {
    if (options_.images != ReadImages::kWherePossible || !pass.layer.conv) return std::nullopt;
    const Machine &npu = machine_(pass.ops.front());
    const Convolution conv = *pass.layer.conv;
    const std::optional<KernelRows> parts = kernel_rows_of(conv, npu);
    if (!parts) return std::nullopt;
    pass.layer.conv = parts->columns;
    pass.layer.k = parts->columns.k();
    if (!compiler::takes_image(pass.layer, pass.pass, npu)) return std::nullopt;
    pass.layer.image = true;
    for (PlacedTensor &tensor : pass.inputs)
      if (tensor.form == Form::kIm2col) tensor.conv = parts->rows;
    if (parts->has_more(conv)) pass.results.front().form = Form::kFirstRows;
    if (conv.stride_height == 1) add_bias_gradient(pass);
    return pass;
  }

  /// A channel more, of ones, gives the sums of dY's columns in the same walk: from +0, a row after the other, each
  /// step of the chain dY's element times 1, which is what BiasGradient says.
  void add_bias_gradient(ProductPass &pass) const {
    const OpId bias = bias_gradient_of(pass.ops.front());
    if (bias == kNone || !row_inside_image(*pass.layer.conv)) return;
    ProductPass with = pass;
    with.ops = {std::min(pass.ops.front(), bias), std::max(pass.ops.front(), bias)};
    Convolution &conv = *with.layer.conv;
    ++conv.channels;
    with.layer.k = conv.k();
    if (conv.channels > machine_(bias).rows || !compiler::takes_image(with.layer, with.pass, machine_(bias))) return;
    for (PlacedTensor &tensor : with.inputs)
      tensor.ones = tensor.form == Form::kIm2col;
    with.results.front().form = Form::kWithoutOnes;
    with.results.front().conv = conv;
    with.results.push_back(with.results.front());
    with.results.back().id = graph_.ops[bias].outputs[0];
    with.results.back().form = Form::kOfOnes;
    pass = std::move(with);
  }

  /// Of the same dY, in bf16, whose result nobody reads before both could be there; kNone if there is none.
  OpId bias_gradient_of(OpId dw) const {
    const graph::TensorId dy = graph_.ops[dw].inputs[1];
    if (graph_.tensors[dy].type != graph::ElementType::kBf16) return kNone;
    for (OpId id = 0; id < graph_.ops.size(); ++id) {
      const Op &op = graph_.ops[id];
      const bool begins = op.inputs.size() < 2 || op.inputs[1] == kNone;
      if (op.type->name == "BiasGradient" && op.inputs[0] == dy && begins && !read_between(id, dw)) return id;
    }
    return kNone;
  }

  /// Whether the pass is better off over its image than `instead` are, by which it would be left to im2col.
  bool takes_image(const ProductPass &pass, const std::vector<ProductPass> &instead) const {
    if (options_.images == ReadImages::kNever || !pass.layer.conv) return false;
    const Machine &npu = machine_(pass.ops.front());
    if (options_.images == ReadImages::kWherePossible) return compiler::takes_image(pass.layer, pass.pass, npu);
    std::vector<compiler::LayerPass> others;
    for (const ProductPass &other : instead)
      others.push_back({other.layer, other.pass});
    return compiler::gains_by_image(pass.layer, pass.pass, npu, others);
  }

  ProductPass forward_pass(const Found &f) const {
    const Op &op = graph_.ops[f.op];
    ProductPass pass;
    pass.ops = {f.op};
    pass.layer = layer_of(f, false);
    pass.layer.y_fp32 = leaves_fp32(op.outputs[0]);
    pass.pass = Pass::kForward;
    pass.inputs = {placed(op.inputs[0], LayerTensor::kX, f.product, f.product.transposed_a),
                   placed(op.inputs[1], LayerTensor::kW, f.product, f.product.transposed_b)};
    pass.results = {placed(op.outputs[0], LayerTensor::kY, f.product)};
    return takes_image(pass, {pass}) ? over_image(std::move(pass)) : pass;
  }

  void add_input_gradient(const Found &f) {
    if (!has_windows(f.product)) {
      plan_.passes.push_back(input_gradient_pass(f));
      return;
    }
    std::vector<ProductPass> phases = phase_passes(f);
    std::move(phases.begin(), phases.end(), std::back_inserter(plan_.passes));
    if (phases.empty())
      plan_.host.push_back({f.op, "no tap meets a pixel, so that there is nothing to multiply: all is +0"});
  }

  /// dX = dY W^T as a product of its own: its X is dY, its W the transposed weights, its Y dX.
  ProductPass input_gradient_pass(const Found &f) const {
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
    return pass;
  }

  /// dX by im2col of dY: a product for each phase that has pixels and taps (N24). Empty if none has.
  std::vector<ProductPass> phase_passes(const Found &f) const {
    const Op &op = graph_.ops[f.op];
    const Convolution &conv = *f.product.conv;
    const std::vector<TransposedPhase> phases = transposed_phases(conv);
    std::vector<ProductPass> passes;
    for (std::uint32_t i = 0; i < phases.size(); ++i) {
      const TransposedPhase &phase = phases[i];
      if (phase.taps.empty() || phase.pixels.empty()) continue;
      ProductPass pass;
      pass.ops = {f.op};
      pass.begins = pass.completes = false;
      pass.layer.name = phases.size() == 1 ? op.name : fmt::format("{}.phase{}_{}", op.name, phase.y, phase.x);
      pass.layer.m = static_cast<std::uint32_t>(phase.pixels.size());
      pass.layer.k = static_cast<std::uint32_t>(phase.taps.size()) * conv.n();
      pass.layer.n = conv.group_channels();
      pass.layer.groups = conv.groups;
      pass.layer.y_fp32 = leaves_fp32(op.outputs[0]);
      pass.pass = Pass::kForward;
      const auto in_phase = [&](graph::TensorId id, LayerTensor as, Form form) {
        return PlacedTensor{id, as, false, false, form, conv, i};
      };
      pass.inputs = {in_phase(op.inputs[0], LayerTensor::kX, Form::kTransposedRows),
                     in_phase(op.inputs[1], LayerTensor::kW, Form::kTransposedWeights)};
      pass.results = {in_phase(op.outputs[0], LayerTensor::kY, Form::kPhase)};
      passes.push_back(std::move(pass));
    }
    if (!passes.empty()) passes.front().begins = passes.back().completes = true;
    return passes;
  }

  void add_backward(const Found *dx, const Found &dw) {
    ProductPass weights = backward_pass(nullptr, dw);
    if (dx != nullptr && !has_windows(dx->product)) {
      plan_.passes.push_back(backward_pass(dx, dw));
      return;
    }
    if (dx == nullptr)
      if (auto narrow = by_kernel_rows(weights)) {
        plan_.passes.push_back(std::move(*narrow));
        return;
      }
    std::vector<ProductPass> apart{weights};
    if (dx != nullptr) {
      std::vector<ProductPass> phases = phase_passes(*dx);
      std::move(phases.begin(), phases.end(), std::back_inserter(apart));
    }
    if (const ProductPass both = backward_pass(dx, dw); takes_image(both, apart)) {
      plan_.passes.push_back(over_image(both));
      return;
    }
    plan_.passes.push_back(std::move(weights));
    if (dx != nullptr) add_input_gradient(*dx);
  }

  /// dW, and dX if it is there, of one dY.
  ProductPass backward_pass(const Found *dx, const Found &dw) const {
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
    return pass;
  }

  const Graph &graph_;
  const MachineOf &machine_;
  PlanOptions options_;
  std::vector<Found> found_;
  ProductPlan plan_;
};

} // namespace

const PlacedTensor &ProductPass::placed(LayerTensor as) const {
  for (const std::vector<PlacedTensor> *tensors : {&inputs, &results})
    for (const PlacedTensor &tensor : *tensors)
      if (tensor.as == as) return tensor;
  throw std::logic_error(fmt::format("product '{}': no tensor of the graph is {}", layer.name, to_string(as)));
}

std::vector<std::size_t> ProductPlan::pass_of_ops(std::size_t ops) const {
  std::vector<std::size_t> pass_of(ops);
  for (std::size_t pass = 0; pass < passes.size(); ++pass)
    for (const OpId op : passes[pass].ops)
      pass_of[op] = pass + 1;
  return pass_of;
}

std::vector<std::size_t> ProductPlan::due(OpId op) const {
  std::vector<std::size_t> all;
  const auto first =
      std::lower_bound(passes.begin(), passes.end(), op, [](const ProductPass &p, OpId id) { return p.when() < id; });
  for (auto at = first; at != passes.end() && at->when() == op; ++at)
    all.push_back(static_cast<std::size_t>(at - passes.begin()));
  return all;
}

ProductPlan plan_products(const Graph &graph, const MachineOf &machine, const PlanOptions &options) {
  return Planner(graph, machine, options).run();
}

ProductPlan plan_products(const Graph &graph, const Machine &machine, const PlanOptions &options) {
  return plan_products(
      graph, [&machine](OpId) -> const Machine & { return machine; }, options);
}

} // namespace gradweave::runtime::train
