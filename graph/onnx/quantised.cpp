#include "graph/onnx/quantised.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace gradweave::graph::onnx {
namespace {

Blob number(const std::string &name, DataType type, std::vector<std::int64_t> dims, float value) {
  Blob blob{name, type, std::move(dims), {}};
  for (std::uint64_t i = 0; i < blob.elements(); ++i)
    if (type == DataType::kFloat)
      blob.bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
    else
      blob.bytes.append(bytes_of(type), '\0');
  return blob;
}

/// Operators whose results stand for what their first input stands for.
bool keeps_scale(std::string_view type) {
  for (const char *known : {"Flatten", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"})
    if (type == known) return true;
  return false;
}

bool is_set(const Node &node, std::string_view attribute) {
  const auto found = node.attributes.find(attribute);
  const auto *const value = found == node.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return value != nullptr && *value != 0;
}

class Rewriter {
public:
  explicit Rewriter(Model &model) : model_(model) {
    for (const Blob &blob : model.initializers)
      known_.emplace(blob.name, blob.dims);
    for (const Node &node : model.nodes)
      for (const std::string &output : node.outputs)
        producers_.emplace(output, &node);
  }

  std::set<std::string> run() {
    for (const Node &node : model_.nodes)
      if (!rewrite(node)) nodes_.push_back(node);
    model_.nodes = std::move(nodes_);
    for (Blob &blob : made_)
      model_.initializers.push_back(std::move(blob));
    return std::move(quantised_);
  }

private:
  using Rewrite = bool (Rewriter::*)(const Node &);

  bool rewrite(const Node &node) {
    struct Entry {
      std::string_view type;
      bool microsoft;
      Rewrite rewrite;
    };
    static constexpr Entry kEntries[] = {
        {"DynamicQuantizeLinear", false, &Rewriter::dynamic_quantize},
        {"MatMulInteger", false, &Rewriter::integer_product},
        {"ConvInteger", false, &Rewriter::integer_product},
        {"QLinearMatMul", false, &Rewriter::matmul},
        {"QLinearConv", false, &Rewriter::conv},
        {"QLinearAdd", true, &Rewriter::elementwise},
        {"QLinearMul", true, &Rewriter::elementwise},
        {"QLinearSigmoid", true, &Rewriter::function},
        {"QLinearLeakyRelu", true, &Rewriter::function},
        {"QLinearSoftmax", true, &Rewriter::function},
        {"QLinearGlobalAveragePool", true, &Rewriter::function},
        {"QLinearAveragePool", true, &Rewriter::function},
        {"QLinearConcat", true, &Rewriter::concat},
        {"QGemm", true, &Rewriter::gemm},
        {"MatMulIntegerToFloat", true, &Rewriter::matmul_to_float},
        {"DynamicQuantizeMatMul", true, &Rewriter::dynamic_matmul},
        {"DynamicQuantizeLSTM", true, &Rewriter::lstm},
    };
    if (quantises_bias(node)) {
      put(node, "Identity", node.inputs);
      return true;
    }
    for (const Entry &entry : kEntries)
      if (node.type == entry.type && node.domain == (entry.microsoft ? "com.microsoft" : ""))
        return (this->*entry.rewrite)(node);
    return false;
  }

  static std::string input(const Node &node, std::size_t i) {
    return i < node.inputs.size() ? node.inputs[i] : std::string{};
  }
  bool is_known(const std::string &name) const {
    const auto made = producers_.find(name);
    return known_.count(name) != 0 || (made != producers_.end() && made->second->type == "Constant");
  }

  /// The node in the place of another one, with its name, attributes and first output.
  Node &put(const Node &of, const char *type, std::vector<std::string> inputs) {
    Node node = of;
    node.type = type;
    node.domain.clear();
    node.inputs = std::move(inputs);
    nodes_.push_back(std::move(node));
    return nodes_.back();
  }

  /// One on the way to its output; returns what it computes.
  std::string step(const Node &of, const char *type, std::vector<std::string> inputs, const std::string &suffix) {
    Node node;
    node.type = type;
    node.name = fmt::format("{}/{}", of.name.empty() ? first_output(of) : of.name, suffix);
    node.inputs = std::move(inputs);
    node.outputs = {fmt::format("{}/{}", first_output(of), suffix)};
    node.opset = 13;
    nodes_.push_back(std::move(node));
    return nodes_.back().outputs.front();
  }

  /// Real numbers of a known operand, by its scale and zero point; else the operand, which has been made of real ones.
  std::string real(const Node &of, std::size_t i, const std::string &scale, const std::string &zero,
                   std::int64_t axis) {
    const std::string name = input(of, i);
    if (!is_known(name)) return name;
    const std::string own = step(of, "DequantizeLinear", {name, scale, zero}, fmt::format("real{}", i));
    nodes_.back().attributes["axis"] = axis;
    return own;
  }

  /// Ones, as many as a zero point has.
  std::string ones(const Node &of, const std::string &zero) {
    const auto found = known_.find(zero);
    const std::string name = fmt::format("{}/scale", first_output(of));
    made_.push_back(
        number(name, DataType::kFloat, found == known_.end() ? std::vector<std::int64_t>{} : found->second, 1));
    return name;
  }

  /// The QuantizeLinear or DynamicQuantizeLinear that a value comes from; null: it comes from another operator.
  const Node *quantiser_of(const std::string &value) const {
    const auto found = producers_.find(value);
    if (found == producers_.end()) return nullptr;
    const Node &node = *found->second;
    if (node.type == "QuantizeLinear" || node.type == "DynamicQuantizeLinear") return &node;
    return keeps_scale(node.type) && !node.inputs.empty() ? quantiser_of(node.inputs[0]) : nullptr;
  }

  const Node *producer(const std::string &value, std::string_view type) const {
    const auto found = producers_.find(value);
    return found != producers_.end() && found->second->type == type ? found->second : nullptr;
  }

  /// Whether the node rounds a bias to steps of the scale that is found when the network runs: the Floor or the Cast
  /// behind a Div by it.
  bool quantises_bias(const Node &node) const {
    const Node *const floor = node.type == "Cast" ? producer(input(node, 0), "Floor") : &node;
    if (floor == nullptr || floor->type != "Floor") return false;
    const Node *const quotient = producer(input(*floor, 0), "Div");
    const Node *const scale = quotient == nullptr ? nullptr : producer(input(*quotient, 1), "Mul");
    return scale != nullptr && std::any_of(scale->inputs.begin(), scale->inputs.end(), [this](const std::string &of) {
             return producer(of, "DynamicQuantizeLinear") != nullptr;
           });
  }

  bool dynamic_quantize(const Node &node) {
    if (node.inputs.size() != 1 || node.outputs.size() != 3) return false;
    made_.push_back(number(node.outputs[1], DataType::kFloat, {}, 1));
    made_.push_back(number(node.outputs[2], DataType::kUint8, {}, 0));
    put(node, "Identity", node.inputs).outputs = {node.outputs[0]};
    quantised_.insert(node.outputs[0]);
    return true;
  }

  /// MatMulInteger and ConvInteger: in steps of both scales, which a Mul behind them has.
  bool integer_product(const Node &node) {
    const Node *const quantiser = quantiser_of(input(node, 0));
    if (quantiser == nullptr || !is_known(input(node, 1))) return false;
    std::string x = node.inputs[0];
    if (quantiser->type == "QuantizeLinear") x = step(node, "Div", {x, input(*quantiser, 1)}, "steps");
    const bool conv = node.type == "ConvInteger";
    const std::string zero = input(node, 3);
    const std::string w = real(node, 1, ones(node, zero), zero, conv ? 0 : -1);
    put(node, conv ? "Conv" : "MatMul", {x, w});
    return true;
  }

  bool matmul(const Node &node) {
    if (node.inputs.size() != 8) return false;
    const std::string a = real(node, 0, node.inputs[1], node.inputs[2], -2);
    put(node, "MatMul", {a, real(node, 3, node.inputs[4], node.inputs[5], -1)});
    return note(node);
  }

  bool conv(const Node &node) {
    if (node.inputs.size() < 8) return false;
    std::vector<std::string> inputs{real(node, 0, node.inputs[1], node.inputs[2], 0),
                                    real(node, 3, node.inputs[4], node.inputs[5], 0)};
    if (const std::string bias = input(node, 8); !bias.empty())
      inputs.push_back(real(node, 8, step(node, "Mul", {node.inputs[1], node.inputs[4]}, "scale"), {}, 0));
    put(node, "Conv", std::move(inputs));
    return note(node);
  }

  bool elementwise(const Node &node) {
    if (node.inputs.size() < 6) return false;
    const std::string a = real(node, 0, node.inputs[1], node.inputs[2], 0);
    put(node, node.type == "QLinearAdd" ? "Add" : "Mul", {a, real(node, 3, node.inputs[4], node.inputs[5], 0)});
    return note(node);
  }

  bool function(const Node &node) {
    if (is_set(node, "channels_last")) return false;
    put(node, node.type.c_str() + std::strlen("QLinear"), {input(node, 0)}).attributes.erase("opset");
    return note(node);
  }

  bool concat(const Node &node) {
    std::vector<std::string> inputs;
    for (std::size_t i = 2; i + 2 < node.inputs.size(); i += 3)
      inputs.push_back(real(node, i, node.inputs[i + 1], node.inputs[i + 2], 0));
    put(node, "Concat", std::move(inputs));
    return note(node);
  }

  bool gemm(const Node &node) {
    if (node.inputs.size() < 6) return false;
    const bool by_rows = is_set(node, "transB");
    std::vector<std::string> inputs{real(node, 0, node.inputs[1], node.inputs[2], 0),
                                    real(node, 3, node.inputs[4], node.inputs[5], by_rows ? 0 : 1)};
    if (!input(node, 6).empty())
      inputs.push_back(real(node, 6, step(node, "Mul", {node.inputs[1], node.inputs[4]}, "scale"), {}, -1));
    put(node, "Gemm", std::move(inputs));
    return input(node, 7).empty() || note(node);
  }

  /// Of A, B, their scales and zero points, and a bias.
  bool matmul_to_float(const Node &node) {
    if (node.inputs.size() < 4 || quantiser_of(node.inputs[0]) == nullptr) return false;
    return biased_product(node, real(node, 1, node.inputs[3], input(node, 5), -1), input(node, 6));
  }

  /// Of A, of B, its scale and zero point, and a bias.
  bool dynamic_matmul(const Node &node) {
    if (node.inputs.size() < 3) return false;
    return biased_product(node, real(node, 1, node.inputs[2], input(node, 3), -1), input(node, 4));
  }

  bool biased_product(const Node &node, const std::string &w, const std::string &bias) {
    if (bias.empty())
      put(node, "MatMul", {node.inputs[0], w});
    else
      put(node, "Add", {step(node, "MatMul", {node.inputs[0], w}, "product"), bias});
    return true;
  }

  /// An LSTM whose weights, [directions, features, 4 hidden], have scales and zero points behind the other inputs.
  bool lstm(const Node &node) {
    if (node.inputs.size() != 12) return false;
    std::vector<std::string> inputs(node.inputs.begin(), node.inputs.begin() + 8);
    for (std::size_t i = 1; i <= 2; ++i) {
      const std::string &scale = node.inputs[6 + 2 * i], &zero = node.inputs[7 + 2 * i];
      const auto dims = known_.find(scale);
      if (dims == known_.end() || dims->second.size() != 1) return false; // one for each direction
      const std::string own = step(node, "DequantizeLinear", {inputs[i], scale, zero}, fmt::format("real{}", i));
      nodes_.back().attributes["axis"] = std::int64_t{0};
      inputs[i] = step(node, "Transpose", {own}, fmt::format("turned{}", i));
      nodes_.back().attributes["perm"] = std::vector<std::int64_t>{0, 2, 1};
    }
    put(node, "LSTM", std::move(inputs));
    return true;
  }

  bool note(const Node &node) {
    quantised_.insert(first_output(node));
    return true;
  }

  Model &model_;
  std::unordered_map<std::string, std::vector<std::int64_t>> known_; ///< dimensions of initializers
  std::unordered_map<std::string, const Node *> producers_;
  std::vector<Node> nodes_;
  std::vector<Blob> made_;
  std::set<std::string> quantised_;
};

} // namespace

std::set<std::string> take_real_numbers(Model &model) {
  std::set<std::string> quantised = Rewriter(model).run();
  for (const Node &node : model.nodes)
    if (node.type == "QuantizeLinear") quantised.insert(first_output(node));
  return quantised;
}

} // namespace gradweave::graph::onnx
