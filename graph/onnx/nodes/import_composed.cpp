// Operators that are a few others of ONNX: their nodes take their place.
#include "graph/onnx/nodes/importers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

  std::string whole(std::vector<std::int64_t> values) {
    return add("Constant", {}, {{"value_ints", std::move(values)}});
  }
  std::string number(double value) { return add("Constant", {}, {{"value_float", value}}); }
  std::string reshape(const std::string &x, std::vector<std::int64_t> dims) {
    return add("Reshape", {x, whole(std::move(dims))});
  }
  std::string slice(const std::string &x, std::int64_t axis, std::int64_t begin, std::int64_t end,
                    std::int64_t step = 1) {
    return add("Slice", {x, whole({begin}), whole({end}), whole({axis}), whole({step})});
  }

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

namespace {

/// The two numbers of each pair that is turned, and the way back.
struct Pairs {
  std::string first, second;
};

Pairs pairs_of(Body &body, const std::string &x, std::int64_t width, bool interleaved) {
  if (interleaved) return {body.slice(x, -1, 0, width, 2), body.slice(x, -1, 1, width, 2)};
  return {body.slice(x, -1, 0, width / 2), body.slice(x, -1, width / 2, width)};
}

std::string joined(Body &body, const Pairs &pairs, bool interleaved, Dims dims) {
  if (!interleaved) return body.add("Concat", {pairs.first, pairs.second}, {{"axis", std::int64_t{-1}}});
  const std::string axis = body.whole({-1});
  const std::string both =
      body.add("Concat", {body.add("Unsqueeze", {pairs.first, axis}), body.add("Unsqueeze", {pairs.second, axis})},
               {{"axis", std::int64_t{-1}}});
  return body.reshape(both, std::move(dims));
}

} // namespace

void import_rotary_embedding(NodeImport &node) {
  const Value &x = node.real_in(0);
  const std::int64_t heads = node.integer("num_heads", 0);
  if (x.rank() != 4 && (x.rank() != 3 || heads < 1 || x.back() % heads != 0))
    node.fail(fmt::format("input '{}' is {}; [batch, heads, sequence, width] is taken, or [batch, sequence, heads x "
                          "width] with 'num_heads'",
                          x.name, text_of(x.dims)));
  Body body(node);
  // [batch, sequence, heads, width]
  const Dims dims = x.rank() == 4 ? Dims{x.dims[0], x.dims[2], x.dims[1], x.dims[3]}
                                  : Dims{x.dims[0], x.dims[1], heads, x.dims[2] / heads};
  const Dims swap{0, 2, 1, 3};
  const std::string turned =
      x.rank() == 4 ? body.add("Transpose", {input(node, 0)}, {{"perm", swap}}) : body.reshape(input(node, 0), dims);
  const std::int64_t asked = node.integer("rotary_embedding_dim", 0), width = asked == 0 ? dims[3] : asked;
  if (width < 2 || width % 2 != 0 || width > dims[3])
    node.fail(fmt::format("attribute 'rotary_embedding_dim' = {} does not fit a width of {}", asked, dims[3]));
  const bool interleaved = node.integer("interleaved", 0) != 0;
  const auto angles = [&](std::size_t i) { // [batch, sequence, 1, width / 2]
    std::string table = input(node, i);
    if (node.has_input(3)) table = body.add("Gather", {table, input(node, 3)}, {{"axis", std::int64_t{0}}});
    return body.add("Unsqueeze", {table, body.whole({2})});
  };
  const std::string cosine = angles(1), sine = angles(2);
  const Pairs p = pairs_of(body, width == dims[3] ? turned : body.slice(turned, -1, 0, width), width, interleaved);
  const Pairs to{body.add("Sub", {body.add("Mul", {p.first, cosine}), body.add("Mul", {p.second, sine})}),
                 body.add("Add", {body.add("Mul", {p.first, sine}), body.add("Mul", {p.second, cosine})})};
  std::string y = joined(body, to, interleaved, {dims[0], dims[1], dims[2], width});
  if (width != dims[3])
    y = body.add("Concat", {y, body.slice(turned, -1, width, dims[3])}, {{"axis", std::int64_t{-1}}});
  body.give(x.rank() == 4 ? body.add("Transpose", {y}, {{"perm", swap}}) : body.reshape(y, x.dims));
  node.expand(body.take());
}

namespace {

/// Attention of [batch, heads, sequence, width] each.
class AttentionBody {
public:
  explicit AttentionBody(NodeImport &node) : node_(node), body_(node) {}

  void run() {
    for (const std::size_t i : {4U, 5U})
      if (node_.has_input(i)) node_.fail("inputs 4 and 5, past keys and values, are not taken: training has none");
    if (node_.wants(3)) node_.fail("output 3, the scores, is not given");
    const bool flat = node_.real_in(0).rank() == 3;
    const std::string q = heads_of(0, "q_num_heads", q_), k = heads_of(1, "kv_num_heads", k_),
                      v = heads_of(2, "kv_num_heads", v_);
    if (k_[1] < 1 || q_[1] % k_[1] != 0)
      node_.fail(fmt::format("{} heads of queries do not share {} of keys", q_[1], k_[1]));
    body_.give(k, 1);
    body_.give(v, 2);
    const std::string scores = masked(scores_of(q, repeated(k, k_)));
    const std::string y =
        body_.add("MatMul", {body_.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}}), repeated(v, v_)});
    body_.give(!flat ? y
                     : body_.reshape(body_.add("Transpose", {y}, {{"perm", Dims{0, 2, 1, 3}}}),
                                     {q_[0], q_[2], q_[1] * v_[3]}));
    node_.expand(body_.take());
  }

private:
  std::string heads_of(std::size_t i, const char *attribute, Dims &dims) {
    const Value &x = node_.real_in(i);
    dims = x.dims;
    if (x.rank() == 4) return input(node_, i);
    const std::int64_t heads = node_.integer(attribute, 0);
    if (x.rank() != 3 || heads < 1 || x.back() % heads != 0)
      node_.fail(fmt::format("input '{}' is {}; [batch, heads, sequence, width] is taken, or [batch, sequence, heads x "
                             "width] with '{}'",
                             x.name, text_of(x.dims), attribute));
    dims = {x.dims[0], heads, x.dims[1], x.dims[2] / heads};
    const std::string cut = body_.reshape(input(node_, i), {x.dims[0], x.dims[1], heads, x.dims[2] / heads});
    return body_.add("Transpose", {cut}, {{"perm", Dims{0, 2, 1, 3}}});
  }

  /// Heads that several queries share, as many as these.
  std::string repeated(const std::string &x, const Dims &dims) {
    if (dims[1] == q_[1]) return x;
    const std::string each = body_.add("Unsqueeze", {x, body_.whole({2})});
    const std::string all =
        body_.add("Expand", {each, body_.whole({dims[0], dims[1], q_[1] / dims[1], dims[2], dims[3]})});
    return body_.reshape(all, {dims[0], q_[1], dims[2], dims[3]});
  }

  std::string scores_of(const std::string &q, const std::string &k) {
    const std::string turned = body_.add("Transpose", {k}, {{"perm", Dims{0, 1, 3, 2}}});
    const double scale = node_.real("scale", 1 / std::sqrt(static_cast<double>(q_[3])));
    std::string scores = body_.add("Mul", {body_.add("MatMul", {q, turned}), body_.number(scale)});
    if (node_.has_input(6)) node_.fail("input 6, the lengths of keys, is not taken; export without padding of keys");
    const double cap = node_.real("softcap", 0);
    if (cap == 0) return scores;
    scores = body_.add("Tanh", {body_.add("Mul", {scores, body_.number(1 / cap)})});
    return body_.add("Mul", {scores, body_.number(cap)});
  }

  std::string masked(std::string scores) {
    const std::string never = body_.number(-HUGE_VAL);
    if (node_.has_input(3))
      scores = node_.in(3).kind == Kind::kTruth ? body_.add("Where", {input(node_, 3), scores, never})
                                                : body_.add("Add", {scores, input(node_, 3)});
    if (node_.integer("is_causal", 0) == 0) return scores;
    const std::string rows = body_.add("Expand", {body_.whole({1}), body_.whole({q_[2], k_[2]})});
    const std::string seen = body_.add("Trilu", {rows}, {{"upper", std::int64_t{0}}});
    return body_.add("Where",
                     {body_.add("Cast", {seen}, {{"to", static_cast<std::int64_t>(DataType::kBool)}}), scores, never});
  }

  NodeImport &node_;
  Body body_;
  Dims q_, k_, v_;
};

} // namespace

void import_attention(NodeImport &node) { AttentionBody(node).run(); }

} // namespace gradweave::graph::onnx
