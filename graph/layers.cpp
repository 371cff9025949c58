#include "graph/layers.hpp"

#include "graph/frontend/network_file.hpp"
#include "graph/ir/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace gradweave::graph {
namespace {

using compiler::Layer;

/// Of what a tensor consists, element by element.
constexpr int kFixed = -1; ///< of parameters, state and constants
constexpr int kMixed = -2; ///< of data, of several layers, or not element by element

bool is_view(const Op &op) {
  return op.type->name == "Cast" || op.type->name == "Reshape" || op.type->name == "Flatten";
}

bool is_batch_normalization(const Op &op) { return op.type->name.substr(0, 18) == "BatchNormalization"; }

Lowering lowering_of(const Graph &graph, const Op &op) {
  return op.type->lower == nullptr ? Lowering{} : op.type->lower(OpView{graph, op});
}

/// Of "FILE:LINE"; 0: it is no line that something comes from.
std::size_t line_of(const std::string &where) {
  std::size_t line = 0;
  const std::size_t colon = where.rfind(':');
  if (colon == std::string::npos) return 0;
  const char *const end = where.data() + where.size();
  return std::from_chars(where.data() + colon + 1, end, line).ptr == end ? line : 0;
}

std::string without_weight(const std::string &name) {
  constexpr std::string_view kEnd = ".weight";
  const bool ends = name.size() > kEnd.size() && name.compare(name.size() - kEnd.size(), kEnd.size(), kEnd) == 0;
  return ends ? name.substr(0, name.size() - kEnd.size()) : name;
}

/// Without what a list of layers cannot have in a name: --layers takes them apart at commas.
std::string legal(std::string name) {
  for (char &c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == ',') c = '_';
  if (!name.empty() && name.front() == ' ') name.front() = '_';
  if (!name.empty() && name.back() == ' ') name.back() = '_';
  return name;
}

class LayerPass {
public:
  LayerPass(const Graph &graph, const std::filesystem::path &file)
      : graph_(graph), file_(file), list_(file), learned_(graph.tensors.size()), data_(graph.tensors.size()),
        consists_(graph.tensors.size(), kFixed), view_of_(graph.tensors.size()), weights_(graph.tensors.size(), kNone) {
    for (TensorId id = 0; id < graph.tensors.size(); ++id) {
      const Tensor &tensor = graph.tensors[id];
      view_of_[id] = id;
      data_[id] = tensor.role == Role::kInput;
      if (data_[id]) consists_[id] = kMixed;
      if (tensor.role != Role::kParameter) continue;
      learned_[id] = !tensor.frozen && !tensor.boundary;
      weights_[id] = id;
    }
  }

  std::vector<Layer> run() {
    for (const Op &op : graph_.ops) {
      const Lowering lowering = lowering_of(graph_, op);
      follow(op, lowering);
      if (const std::size_t side = weights_of(op, lowering); side < 2)
        add(op, *lowering.product, side);
      else if (lowering.product)
        leave_out(op);
    }
    if (layers_.empty())
      compiler::fail(
          file_, 0,
          "no op is a product with weights (Conv, Gemm, MatMul, ...), so the network has no layers" +
              (others_.empty() ? std::string() : "; --step takes the whole of it, " + others_[0].op + " too"));
    return list_.take();
  }

  std::vector<compiler::OtherProducts> others() const { return others_; }

  /// Whether a layer has the parameter.
  bool has(TensorId parameter) const { return owner_.count(parameter) != 0; }

private:
  void follow(const Op &op, const Lowering &lowering) {
    const bool depends =
        std::any_of(op.inputs.begin(), op.inputs.end(), [this](TensorId id) { return id != kNone && learned_[id]; });
    const bool data =
        std::any_of(op.inputs.begin(), op.inputs.end(), [this](TensorId id) { return id != kNone && data_[id]; });
    for (std::size_t o = 0; o < op.outputs.size(); ++o) {
      const TensorId id = op.outputs[o];
      if (id == kNone) continue;
      data_[id] = data;
      learned_[id] = depends && is_real(graph_.tensors[id].type) && !graph_.tensors[id].boundary;
      consists_[id] = o == 0 ? consistence(op, lowering) : kMixed;
    }
    if (is_view(op)) view_of_[op.outputs[0]] = view_of_[op.inputs[0]];
    weights_[op.outputs[0]] = weights_behind(op);
  }

  /// The parameter that an op moves about, or makes weights of beside others, of as many elements.
  TensorId weights_behind(const Op &op) const {
    if (is_view(op) || op.type->name == "Transpose") return weights_[op.inputs[0]];
    if (lowering_of(graph_, op).product) return kNone;
    TensorId weights = kNone;
    for (const TensorId id : op.inputs) {
      if (id == kNone || graph_.tensors[id].role == Role::kConstant) continue;
      if (data_[id]) return kNone;
      const TensorId behind = weights_[id];
      if (behind != kNone && weights == kNone &&
          graph_.tensors[behind].shape.elements() == graph_.tensors[op.outputs[0]].shape.elements())
        weights = behind;
    }
    return weights;
  }

  int consistence(const Op &op, const Lowering &lowering) const {
    if (is_view(op) || is_batch_normalization(op)) return consists_[op.inputs[0]];
    if (lowering.product || lowering.walk != Walk::kElements) return kMixed;
    int all = kFixed;
    for (const TensorId id : op.inputs) {
      if (id == kNone || consists_[id] == kFixed) continue;
      const bool alone = all == kFixed || all == consists_[id];
      if (!alone || graph_.tensors[id].shape != graph_.tensors[op.outputs[0]].shape) return kMixed;
      all = consists_[id];
    }
    return all;
  }

  /// Which operand of a forward product has a layer's weights; 2: none has. A matrix product may have them on its left:
  /// it is the layer of the transposed matrices.
  std::size_t weights_of(const Op &op, const Lowering &lowering) const {
    if (!lowering.product || lowering.product->kind != ProductKind::kForward) return 2;
    const auto has = [&](std::size_t i) {
      const TensorId weights = weights_[op.inputs[i]];
      return weights != kNone && !graph_.tensors[weights].head;
    };
    if (has(1)) return 1;
    return lowering.product->grouping == Product::Grouping::kBatch && has(0) ? 0 : 2;
  }

  void leave_out(const Op &op) {
    auto known = std::find_if(others_.begin(), others_.end(), [&](const auto &o) { return o.op == op.type->name; });
    if (known == others_.end()) known = others_.insert(known, {std::string(op.type->name), 0, 0});
    ++known->count;
    known->multiply_adds += op.type->operations(OpView{graph_, op});
  }

  void add(const Op &op, Product product, std::size_t side) {
    const TensorId x = op.inputs[1 - side], w = weights_[op.inputs[side]];
    if (side == 0) std::swap(product.m, product.n);
    const std::size_t line = line_of(op.where);
    Layer layer;
    const auto owner = owner_.find(w);
    layer.name = free_name(owner == owner_.end() ? without_weight(graph_.tensors[w].name) : op.name);
    if (product.conv) {
      compiler::set_convolution(layer, *product.conv, file_, line);
    } else {
      layer.m = compiler::checked_dimension(file_, line, "M", product.m);
      layer.k = compiler::checked_dimension(file_, line, "K", product.k);
      layer.n = compiler::checked_dimension(file_, line, "N", product.n);
      layer.groups = product.groups;
      compiler::check_grouped_size(layer, file_, line);
    }
    layer.dx = learned_[x];
    if (consists_[x] >= 0 && reads_all_of(layer, layers_[static_cast<std::size_t>(consists_[x])]))
      layer.input = layers_[static_cast<std::size_t>(consists_[x])].name;
    // What im2col makes of one image may be the same where the image is another layer's.
    const bool windows = layer.conv && !layer.conv->is_pointwise();
    if (const Layer *twin = reader_of(view_of_[x], layer); twin != nullptr && (windows || layer.input.empty()))
      layer.x_of = twin->name;
    if (owner != owner_.end() && same_weights(layer, layers_[owner->second]))
      layer.weights = layers_[owner->second].name;
    if (consists_[op.outputs[0]] == kMixed) consists_[op.outputs[0]] = static_cast<int>(layers_.size());
    readers_[view_of_[x]].push_back(layers_.size());
    owner_.emplace(w, layers_.size());
    layers_.push_back(layer);
    list_.add(std::move(layer), line);
  }

  /// The name, if a list can have it; else one like it that no other layer has.
  std::string free_name(const std::string &name) const {
    const std::string base = legal(name);
    if (base == name) return name;
    std::string free = base;
    const auto taken = [&](const Layer &layer) { return layer.name == free; };
    for (std::size_t number = 2; std::any_of(layers_.begin(), layers_.end(), taken); ++number)
      free = fmt::format("{}_{}", base, number);
    return free;
  }

  /// Y as it is, in the same cut of rows and columns.
  static bool reads_all_of(const Layer &layer, const Layer &from) {
    const compiler::Extent read = compiler::extent_read(layer);
    return read.rows == from.m && read.cols == std::uint64_t{from.groups} * from.n;
  }

  static bool same_weights(const Layer &a, const Layer &b) { return a.k == b.k && a.n == b.n && a.groups == b.groups; }

  const Layer *reader_of(TensorId x, const Layer &layer) const {
    const auto readers = readers_.find(x);
    if (readers == readers_.end()) return nullptr;
    for (const std::size_t i : readers->second) {
      const Layer &other = layers_[i];
      const bool alike = other.conv.has_value() == layer.conv.has_value() &&
                         (!layer.conv || other.conv->reads_like(*layer.conv)) && other.m == layer.m &&
                         std::uint64_t{other.groups} * other.k == std::uint64_t{layer.groups} * layer.k;
      if (alike) return &other;
    }
    return nullptr;
  }

  const Graph &graph_;
  const std::filesystem::path &file_;
  compiler::LayerList list_;
  std::vector<Layer> layers_;                   ///< as in the list
  std::vector<bool> learned_;                   ///< something is, on the way to the tensor
  std::vector<bool> data_;                      ///< depends on an input
  std::vector<int> consists_;                   ///< a layer's number, or as above
  std::vector<TensorId> view_of_;               ///< the tensor whose elements these are, in their order
  std::vector<TensorId> weights_;               ///< the parameter whose elements these are
  std::vector<compiler::OtherProducts> others_; ///< that are no layers
  std::map<TensorId, std::vector<std::size_t>> readers_;
  std::map<TensorId, std::size_t> owner_; ///< the first layer that has the weights
};

std::string last_part(const std::string &name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

} // namespace

compiler::Network network_of(const Graph &graph, const std::filesystem::path &file) {
  compiler::Network network;
  network.name = graph.name.empty() ? file.stem().string() : graph.name;
  network.description = graph.description;
  network.source = graph.source;
  network.parameters = graph.published;
  LayerPass pass(graph, file);
  network.layers = pass.run();
  network.other_products = pass.others();
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const Tensor &tensor = graph.tensors[id];
    if (tensor.role != Role::kParameter || tensor.head || pass.has(id)) continue;
    const std::string what = last_part(tensor.name);
    auto &others = network.other_parameters;
    const auto known =
        std::find_if(others.begin(), others.end(), [&](const auto &other) { return other.what == what; });
    if (known == others.end())
      others.push_back({what, tensor.shape.elements()});
    else
      known->count += tensor.shape.elements();
  }
  return network;
}

} // namespace gradweave::graph
