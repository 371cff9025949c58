// Operators that are a few others of ONNX: their nodes take their place.
#include "graph/onnx/nodes/importers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph::onnx {
namespace {

constexpr std::int64_t kOpset = 21; ///< of the nodes made here

/// Nodes that take the place of one.
class Body {
public:
  /// `suffix`: of the names of its values.
  explicit Body(const NodeImport &node, const std::string &suffix = {})
      : node_(node), prefix_(node.name()), values_(prefix_ + suffix) {}

  std::string add(std::string type, std::vector<std::string> inputs,
                  std::map<std::string, AttributeValue, std::less<>> attributes = {}) {
    Node &node = nodes_.emplace_back();
    node.name = prefix_;
    node.type = std::move(type);
    node.inputs = std::move(inputs);
    node.outputs = {fmt::format("{}/{}.{}", values_, node.type, nodes_.size())};
    node.attributes = std::move(attributes);
    node.opset = kOpset;
    return node.outputs[0];
  }

  std::string number(double value) { return add("Constant", {}, {{"value_float", value}}); }

  /// `value` is the node's output.
  void give(const std::string &value, std::size_t output = 0) {
    if (!node_.wants(output)) return;
    for (Node &node : nodes_)
      if (node.outputs[0] == value) {
        for (Node &reader : nodes_)
          for (std::string &input : reader.inputs)
            if (input == value) input = node_.node().outputs[output];
        node.outputs[0] = node_.node().outputs[output];
        return;
      }
    add("Identity", {value});
    nodes_.back().outputs[0] = node_.node().outputs[output];
  }

  std::vector<Node> take() { return std::move(nodes_); }

private:
  const NodeImport &node_;
  std::string prefix_, values_;
  std::vector<Node> nodes_;
};

const std::string &input(const NodeImport &node, std::size_t i) {
  if (!node.has_input(i)) node.fail(fmt::format("input {} is missing", i));
  return node.node().inputs[i];
}

} // namespace

namespace {

/// Truth values as 0 and 1, and back.
std::string as_real(Body &body, const std::string &truths) {
  return body.add("Cast", {truths}, {{"to", static_cast<std::int64_t>(DataType::kFloat)}});
}
std::string as_truths(Body &body, const std::string &real) { return body.add("Greater", {real, body.number(0.5)}); }

bool is_computed_truth(const NodeImport &node, std::size_t i) {
  if (!node.has_input(i)) return false;
  const Value &value = node.in(i);
  return value.kind == Kind::kTruth && value.tensor != kNone && node.build.tensor(value.tensor).computed();
}

} // namespace

void import_logic(NodeImport &node) {
  Body body(node);
  for (std::size_t i = 0; i < node.node().inputs.size(); ++i)
    if (node.in(i).kind != Kind::kTruth)
      node.fail(fmt::format("input {} '{}' has no truth values", i, node.in(i).name));
  const std::string a = as_real(body, input(node, 0));
  if (node.is("Not")) {
    body.give(body.add("Less", {a, body.number(0.5)}));
    return node.expand(body.take());
  }
  const std::string b = as_real(body, input(node, 1));
  const std::string real = node.is("And")  ? body.add("Mul", {a, b})
                           : node.is("Or") ? body.add("Add", {a, b})
                                           : body.add("Abs", {body.add("Sub", {a, b})});
  body.give(as_truths(body, real));
  node.expand(body.take());
}

bool moves_truths(const NodeImport &node) {
  constexpr std::string_view kMoves[] = {"Concat", "Expand",  "Flatten", "Gather",    "Reshape",  "Slice",
                                         "Split",  "Squeeze", "Tile",    "Transpose", "Unsqueeze"};
  if (std::find(std::begin(kMoves), std::end(kMoves), node.node().type) == std::end(kMoves)) return false;
  bool moved = false;
  for (std::size_t i = 0; i < (node.is("Concat") ? node.node().inputs.size() : 1); ++i)
    moved = moved || is_computed_truth(node, i);
  return moved;
}

void import_moved_truths(NodeImport &node) {
  Body body(node);
  Node moved = node.node();
  for (std::size_t i = 0; i < (node.is("Concat") ? moved.inputs.size() : 1); ++i)
    moved.inputs[i] = as_real(body, input(node, i));
  for (std::string &output : moved.outputs)
    if (!output.empty()) output += "/real";
  std::vector<Node> nodes = body.take();
  nodes.push_back(moved);
  for (std::size_t o = 0; o < moved.outputs.size(); ++o) {
    if (!node.wants(o)) continue;
    Body back(node, fmt::format("/back{}", o));
    back.give(as_truths(back, moved.outputs[o]), o);
    for (Node &other : back.take())
      nodes.push_back(std::move(other));
  }
  node.expand(std::move(nodes));
}

void import_cast_like(NodeImport &node) {
  Body body(node);
  const Kind kind = node.in(1).kind;
  const DataType to = kind == Kind::kReal    ? DataType::kFloat
                      : kind == Kind::kTruth ? DataType::kBool
                                             : DataType::kInt64;
  body.give(body.add("Cast", {input(node, 0)}, {{"to", static_cast<std::int64_t>(to)}}));
  node.expand(body.take());
}

} // namespace gradweave::graph::onnx
