#include "graph/onnx/fused.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph::onnx {
namespace {

class Splitter {
public:
  std::vector<Node> run(std::vector<Node> nodes) {
    for (Node &node : nodes)
      if (!split(node)) nodes_.push_back(std::move(node));
    return std::move(nodes_);
  }

private:
  bool split(const Node &node) {
    if (node.type == "SimplifiedLayerNormalization") return put(node, "RMSNormalization", node.inputs);
    if (node.domain != "com.microsoft" || node.inputs.empty()) return false;
    const std::string &type = node.type;
    if (type == "Gelu") return put(node, "Gelu", node.inputs);
    if (type == "FusedMatMul") return put(node, "MatMul", node.inputs);
    if (type == "BiasGelu" || type == "FastGelu") return gelu(node);
    if (type == "QuickGelu") return quick_gelu(node);
    if (type == "FusedConv" || type == "FusedGemm") return activated(node);
    if (type == "SkipLayerNormalization") return skip_norm(node, "LayerNormalization", 4);
    if (type == "SkipSimplifiedLayerNormalization") return skip_norm(node, "RMSNormalization", 3);
    return false;
  }

  static std::string input(const Node &node, std::size_t i) {
    return i < node.inputs.size() ? node.inputs[i] : std::string{};
  }

  /// The node in the place of another one, with its name, attributes and first output.
  bool put(const Node &of, const char *type, std::vector<std::string> inputs) {
    Node node = of;
    node.type = type;
    node.domain.clear();
    node.inputs = std::move(inputs);
    node.outputs.resize(1);
    nodes_.push_back(std::move(node));
    return true;
  }

  /// One on the way to its output; returns what it computes.
  std::string step(const Node &of, const char *type, std::vector<std::string> inputs, const std::string &suffix,
                   std::string output = {}) {
    Node node;
    node.type = type;
    node.name = fmt::format("{}/{}", of.name.empty() ? first_output(of) : of.name, suffix);
    node.inputs = std::move(inputs);
    node.outputs = {output.empty() ? fmt::format("{}/{}", first_output(of), suffix) : std::move(output)};
    nodes_.push_back(std::move(node));
    return nodes_.back().outputs.front();
  }

  bool gelu(const Node &node) {
    const std::string bias = input(node, 1);
    const std::string x = bias.empty() ? node.inputs[0] : step(node, "Add", {node.inputs[0], bias}, "biased");
    put(node, "Gelu", {x});
    if (node.type == "FastGelu") nodes_.back().attributes["approximate"] = std::string("tanh");
    return true;
  }

  bool quick_gelu(const Node &node) {
    put(node, "Swish", node.inputs);
    nodes_.back().attributes.emplace("alpha", 1.702);
    return true;
  }

  /// A product, perhaps plus a fourth input, and what its attribute "activation" names.
  bool activated(const Node &node) {
    const bool conv = node.type == "FusedConv";
    const auto named = node.attributes.find("activation");
    const auto *const activation = named == node.attributes.end() ? nullptr : std::get_if<std::string>(&named->second);
    if (activation == nullptr) return false;
    std::vector<std::string> inputs = node.inputs;
    inputs.resize(std::min<std::size_t>(inputs.size(), 3));
    std::string y = step(node, conv ? "Conv" : "Gemm", std::move(inputs), "product");
    nodes_.back().attributes = node.attributes;
    if (const std::string added = input(node, 3); !added.empty()) y = step(node, "Add", {y, added}, "sum");
    put(node, activation->c_str(), {y});
    nodes_.back().attributes = parameters(node, *activation);
    if (*activation == "Clip") nodes_.back().opset = 6; // bounds are attributes
    return true;
  }

  static std::map<std::string, AttributeValue, std::less<>> parameters(const Node &node,
                                                                       const std::string &activation) {
    std::map<std::string, AttributeValue, std::less<>> result;
    const bool clip = activation == "Clip";
    const char *const names[] = {clip ? "min" : "alpha", clip ? "max" : "beta"};
    if (const auto found = node.attributes.find("activation_params"); found != node.attributes.end())
      if (const auto *list = std::get_if<std::vector<double>>(&found->second))
        for (std::size_t i = 0; i < list->size() && i < 2; ++i)
          result.emplace(names[i], (*list)[i]);
    for (const char *name : {"alpha", "beta"})
      if (const auto found = node.attributes.find(fmt::format("activation_{}", name)); found != node.attributes.end())
        result.emplace(name, found->second);
    return result;
  }

  /// The norm of a sum: of two inputs, and of the bias that is input `bias`. The sum may be the fourth output.
  bool skip_norm(const Node &node, const char *norm, std::size_t bias) {
    if (node.inputs.size() < 3) return false;
    const bool biased = !input(node, bias).empty();
    const std::string kept = node.outputs.size() > 3 ? node.outputs[3] : std::string{};
    std::string sum = step(node, "Add", {node.inputs[0], node.inputs[1]}, "sum", biased ? std::string{} : kept);
    if (biased) sum = step(node, "Add", {sum, node.inputs[bias]}, "biased", kept);
    std::vector<std::string> inputs{sum, node.inputs[2]};
    if (bias == 4 && !input(node, 3).empty()) inputs.push_back(node.inputs[3]);
    return put(node, norm, std::move(inputs));
  }

  std::vector<Node> nodes_;
};

} // namespace

void take_apart(Model &model) { model.nodes = Splitter().run(std::move(model.nodes)); }

} // namespace gradweave::graph::onnx
