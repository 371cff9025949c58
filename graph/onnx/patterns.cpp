#include "graph/onnx/patterns.hpp"

#include "graph/onnx/file/literal.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>

namespace gradweave::graph::onnx {
namespace {

class Recogniser {
public:
  Recogniser(std::vector<Node> &nodes, const Model &model, const std::string &until) : nodes_(nodes), until_(until) {
    for (const ValueInfo &output : model.outputs)
      outputs_.insert(output.name);
    for (const Blob &blob : model.initializers) {
      note_number(blob.name, blob);
      if (blob.dims.size() == 1) vectors_.insert(blob.name);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Node &node = nodes[i];
      for (const std::string &output : node.outputs)
        producers_.emplace(output, i);
      for (const std::string &input : node.inputs)
        readers_[input].push_back(i);
      if (node.type != "Constant" || node.outputs.size() != 1) continue;
      const auto value = node.attributes.find("value");
      if (value == node.attributes.end()) continue;
      if (const auto *blob = std::get_if<Blob>(&value->second)) note_number(node.outputs.front(), *blob);
    }
  }

  void run() {
    std::vector<bool> gone(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      members_.clear();
      std::optional<Node> whole;
      if (nodes_[i].inputs.size() != 1) continue;
      if (nodes_[i].type == "Erf") whole = gelu(i);
      if (nodes_[i].type == "ReduceMean") whole = layer_normalization(i);
      if (!whole || !closed()) continue;
      const std::size_t last = members_.back();
      whole->name = nodes_[last].name;
      whole->outputs = nodes_[last].outputs;
      for (const std::size_t member : members_)
        gone[member] = true;
      gone[last] = false;
      nodes_[last] = std::move(*whole);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!gone[i] && kept++ != i) nodes_[kept - 1] = std::move(nodes_[i]);
    nodes_.resize(kept);
  }

private:
  void note_number(const std::string &name, const Blob &blob) {
    if (blob.elements() == 1 && blob.bytes.size() == bytes_of(blob.type) && is_real(blob.type))
      numbers_[name] = literal_of(blob).real[0];
  }

  bool is_number(const std::string &value, double number) const {
    const auto found = numbers_.find(value);
    return found != numbers_.end() && std::abs(found->second - number) <= 1e-6 * std::abs(number);
  }

  /// The only reader of a value, if it has the type.
  std::optional<std::size_t> reader(const std::string &value, std::string_view type) const {
    const auto found = readers_.find(value);
    if (found == readers_.end() || found->second.size() != 1) return std::nullopt;
    const Node &node = nodes_[found->second[0]];
    const bool binary = type == "Add" || type == "Mul" || type == "Sub";
    if (node.type != type || node.inputs.size() != (binary ? 2 : 1)) return std::nullopt;
    return found->second[0];
  }

  std::optional<std::size_t> producer(const std::string &value, std::string_view type) const {
    const auto found = producers_.find(value);
    if (found == producers_.end() || nodes_[found->second].type != type) return std::nullopt;
    return found->second;
  }

  const std::string &output(std::size_t node) const { return nodes_[node].outputs.front(); } // each has one
  static const std::string &other(const Node &node, const std::string &input) {
    return node.inputs[0] == input ? node.inputs[1] : node.inputs[0];
  }
  bool has_two(std::size_t node) const { return nodes_[node].inputs.size() == 2; }

  /// Nobody else reads what the members compute in between, and none is where the graph is to end.
  bool closed() const {
    const std::set<std::size_t> members(members_.begin(), members_.end());
    for (const std::size_t member : members_) {
      const std::string &value = output(member);
      if (!until_.empty() && (nodes_[member].name == until_ || value == until_) && member != members_.back())
        return false;
      if (member == members_.back()) continue;
      if (outputs_.count(value) != 0) return false;
      const auto found = readers_.find(value);
      for (const std::size_t r : found == readers_.end() ? std::vector<std::size_t>{} : found->second)
        if (members.count(r) == 0) return false;
    }
    return true;
  }

  static Node node_of(const char *type, std::vector<std::string> inputs) {
    Node node;
    node.type = type;
    node.inputs = std::move(inputs);
    return node;
  }

  /// x 0.5 (1 + erf(x / sqrt(2))), the factors in any order.
  std::optional<Node> gelu(std::size_t erf) {
    const std::string &scaled = nodes_[erf].inputs.front();
    std::string x;
    for (const auto &[type, factor] : {std::pair{"Div", std::sqrt(2.0)}, std::pair{"Mul", std::sqrt(0.5)}})
      if (const auto made = producer(scaled, type);
          made && has_two(*made) && is_number(nodes_[*made].inputs[1], factor)) {
        x = nodes_[*made].inputs[0];
        members_ = {*made, erf};
      }
    const auto add = reader(output(erf), "Add");
    if (x.empty() || !add || !is_number(other(nodes_[*add], output(erf)), 1)) return std::nullopt;
    members_.push_back(*add);
    // Two products follow: one with x, one with 0.5, or one with both.
    bool with_x = false, with_half = false;
    std::size_t last = *add;
    while (!with_x || !with_half) {
      const auto mul = reader(output(last), "Mul");
      if (!mul || !has_two(*mul)) return std::nullopt;
      const std::string &factor = other(nodes_[*mul], output(last));
      const auto half = producer(factor, "Mul");
      if (is_number(factor, 0.5)) {
        with_half = true;
      } else if (factor == x) {
        with_x = true;
      } else if (half && has_two(*half) && is_number(other(nodes_[*half], x), 0.5) && !with_x && !with_half &&
                 (nodes_[*half].inputs[0] == x || nodes_[*half].inputs[1] == x)) {
        with_x = with_half = true;
        members_.push_back(*half);
      } else {
        return std::nullopt;
      }
      members_.push_back(last = *mul);
    }
    return node_of("Gelu", {x});
  }

  bool over_last(std::size_t reduce) const {
    const auto axes = nodes_[reduce].attributes.find("axes");
    const auto keeps = nodes_[reduce].attributes.find("keepdims");
    if (axes == nodes_[reduce].attributes.end() || nodes_[reduce].inputs.size() != 1) return false;
    const auto *list = std::get_if<std::vector<std::int64_t>>(&axes->second);
    const auto *keeps_them =
        keeps == nodes_[reduce].attributes.end() ? nullptr : std::get_if<std::int64_t>(&keeps->second);
    return (keeps_them == nullptr || *keeps_them == 1) && list != nullptr && *list == std::vector<std::int64_t>{-1};
  }

  /// (x - mean) / sqrt(mean of (x - mean)^2 + epsilon) gamma + beta.
  std::optional<Node> layer_normalization(std::size_t mean) {
    if (!over_last(mean)) return std::nullopt;
    const std::string &x = nodes_[mean].inputs.front();
    const auto away = reader(output(mean), "Sub");
    if (!away || nodes_[*away].inputs != std::vector<std::string>{x, output(mean)}) return std::nullopt;
    const std::string &difference = output(*away);
    std::optional<std::size_t> square, quotient;
    const auto readers = readers_.find(difference);
    for (const std::size_t r : readers == readers_.end() ? std::vector<std::size_t>{} : readers->second) {
      const Node &node = nodes_[r];
      if (node.type == "Pow" && has_two(r) && is_number(node.inputs[1], 2)) square = r;
      if (node.type == "Mul" && node.inputs == std::vector<std::string>{difference, difference}) square = r;
      if (node.type == "Div" && has_two(r) && node.inputs.front() == difference) quotient = r;
    }
    if (!square || !quotient) return std::nullopt;
    const auto variance = reader(output(*square), "ReduceMean");
    if (!variance || !over_last(*variance)) return std::nullopt;
    const auto sum = reader(output(*variance), "Add");
    if (!sum) return std::nullopt;
    const auto epsilon = numbers_.find(other(nodes_[*sum], output(*variance)));
    const auto root = reader(output(*sum), "Sqrt");
    if (epsilon == numbers_.end() || !root || nodes_[*quotient].inputs[1] != output(*root)) return std::nullopt;
    const auto scaled = reader(output(*quotient), "Mul");
    if (!scaled || vectors_.count(other(nodes_[*scaled], output(*quotient))) == 0) return std::nullopt;
    const auto shifted = reader(output(*scaled), "Add");
    if (!shifted || vectors_.count(other(nodes_[*shifted], output(*scaled))) == 0) return std::nullopt;
    members_ = {mean, *away, *square, *variance, *sum, *root, *quotient, *scaled, *shifted};
    Node node = node_of("LayerNormalization",
                        {x, other(nodes_[*scaled], output(*quotient)), other(nodes_[*shifted], output(*scaled))});
    node.attributes.emplace("epsilon", epsilon->second);
    return node;
  }

  std::vector<Node> &nodes_;
  const std::string &until_;
  std::set<std::string> outputs_, vectors_;
  std::unordered_map<std::string, double> numbers_; ///< single real numbers
  std::unordered_map<std::string, std::size_t> producers_;
  std::unordered_map<std::string, std::vector<std::size_t>> readers_;
  std::vector<std::size_t> members_; ///< of the pattern, the last one at the end
};

} // namespace

void recognise_patterns(std::vector<Node> &nodes, const Model &model, const std::string &until) {
  Recogniser(nodes, model, until).run();
}

} // namespace gradweave::graph::onnx
