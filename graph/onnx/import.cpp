#include "graph/onnx/import.hpp"

#include "graph/build/builder.hpp"
#include "graph/onnx/branch.hpp"
#include "graph/onnx/buffers.hpp"
#include "graph/onnx/file/read_model.hpp"
#include "graph/onnx/fold/fold.hpp"
#include "graph/onnx/fused.hpp"
#include "graph/onnx/inputs.hpp"
#include "graph/onnx/known.hpp"
#include "graph/onnx/nodes/importers.hpp"
#include "graph/onnx/nodes/table.hpp"
#include "graph/onnx/old_forms.hpp"
#include "graph/onnx/patterns.hpp"
#include "graph/onnx/quantised.hpp"
#include "graph/onnx/results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>

namespace gradweave::graph::onnx {
namespace {

bool is_known_only(std::string_view type) {
  return type == "Constant" || type == "Shape" || type == "Size" || find_folder(type) != nullptr;
}

/// What to do about an operator that is not read, with a semicolon; empty: nothing special.
std::string_view remedy_for(const Node &node) {
  struct Remedy {
    std::string_view begin, text;
  };
  constexpr Remedy kRemedies[] = {
      {"Loop", "; export without control flow, unrolled"},
      {"Scan", "; export without control flow, unrolled"},
      {"TensorScatter", "; it updates a cache of keys: export the network as it trains, without one"}};
  if (!node.domain.empty())
    return "; the file has no function of its domain and name: export the model with one, or before operators are "
           "fused";
  for (const Remedy &remedy : kRemedies)
    if (node.type.rfind(remedy.begin, 0) == 0) return remedy.text;
  return {};
}

class NetworkImport {
public:
  NetworkImport(Model model, const std::filesystem::path &file, const OperatorSet &operators,
                const ImportOptions &options)
      : model_(std::move(model)), file_(file.string()), options_(options), builder_(graph_, operators),
        placement_(builder_, options.values) {
    graph_.name = file.stem().string();
    graph_.description =
        fmt::format("ONNX, opset {}{}", model_.opset(), model_.producer.empty() ? "" : ", by " + model_.producer);
    for (Node &node : model_.nodes) {
      if (node.outputs.empty()) fail(fmt::format("{} has no outputs", describe(node)));
      if (node.type != "Constant") continue;
      for (auto &[attribute, value] : node.attributes) // exporters leave these names out, or give one to all
        if (auto *blob = std::get_if<Blob>(&value)) blob->name = node.outputs.front();
    }
    renew_attributes(model_);
    take_apart(model_);
    quantised_ = take_real_numbers(model_);
    recognise_patterns(model_.nodes, model_, options.until);
    known_.emplace(builder_, model_, images_among(model_), find_frozen());
  }

  /// Nothing: an If stands in the way, whose branch() is to be taken first.
  std::optional<Graph> run(ShapeReport *shapes) {
    find_producers();
    find_results();
    find_needed();
    refuse_unknown();
    for (const Blob &blob : model_.initializers)
      add_value(known_->value_of(blob.name, blob));
    add_inputs();
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      if (!needed_[i]) continue;
      if (decides(model_.nodes[i])) return std::nullopt;
      import_node(model_.nodes[i]);
    }
    add_results(builder_, placement_, *known_, values_, results_, !options_.until.empty(), file_);
    note_quantisation();
    if (shapes != nullptr)
      for (const auto &[name, value] : values_)
        shapes->emplace(name, value.dims);
    verify(graph_);
    return std::move(graph_);
  }

  /// An If, by what it computes, and its condition.
  const std::pair<std::string, bool> &branch() const { return branch_; }

private:
  [[noreturn]] void fail(std::string_view message) const { throw GraphError(fmt::format("{}: {}", file_, message)); }
  NodeView view(const Node &node) const { return {node, opset_of(node), file_}; }
  std::int64_t opset_of(const Node &node) const { return node.opset == 0 ? model_.opset() : node.opset; }

  /// Initializers that are not learned, and a note of those that nobody asked for.
  std::set<std::string> find_frozen() {
    std::set<std::string> frozen = buffers_of(model_);
    const auto check = [this](const char *option, const std::string &name) {
      if (std::none_of(model_.initializers.begin(), model_.initializers.end(),
                       [&](const Blob &blob) { return blob.name == name && is_real(blob.type); }))
        fail(fmt::format("{} {}: there is no initializer of that name with real numbers", option, name));
    };
    for (const std::string &name : options_.learned) {
      check("--learned", name);
      frozen.erase(name);
    }
    std::vector<std::string> told(frozen.begin(), frozen.end());
    for (const std::string &name : options_.frozen) {
      check("--frozen", name);
      frozen.insert(name);
    }
    if (told.empty()) return frozen;
    constexpr std::size_t kTold = 8;
    const std::string more = told.size() > kTold ? fmt::format(" and {} more", told.size() - kTold) : "";
    told.resize(std::min(told.size(), kTold));
    graph_.notes.push_back(
        fmt::format("not learned, as no layer reads them as weights: '{}'{}; --learned NAME if one is",
                    fmt::join(told, "', '"), more));
    return frozen;
  }

  void find_producers() {
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      const Node &node = model_.nodes[i];
      for (const std::string &output : node.outputs) {
        if (output.empty()) continue;
        const auto [other, fresh] = producers_.emplace(output, i);
        if (!fresh)
          fail(fmt::format("{}: '{}' is an output of {}, too; each value is computed once", describe(node), output,
                           describe(model_.nodes[other->second])));
      }
    }
  }

  void find_results() {
    if (options_.until.empty()) {
      for (const ValueInfo &output : model_.outputs)
        results_.push_back(output.name);
      if (results_.empty()) fail("field 'graph.output' is empty: nothing is computed");
      return;
    }
    for (const Node &node : model_.nodes)
      if (node.name == options_.until && results_.empty())
        for (const std::string &output : node.outputs)
          if (!output.empty()) results_.push_back(output);
    if (!results_.empty()) return;
    if (producers_.count(options_.until) == 0)
      fail(fmt::format("--until {}: there is no node of that name, and none computes a value of it", options_.until));
    results_.push_back(options_.until);
  }

  void find_needed() {
    needed_.resize(model_.nodes.size());
    std::vector<std::string> open = results_;
    while (!open.empty()) {
      const std::string name = std::move(open.back());
      open.pop_back();
      const auto producer = producers_.find(name);
      if (producer == producers_.end() || needed_[producer->second]) continue;
      needed_[producer->second] = true;
      for (const std::string &input : model_.nodes[producer->second].inputs)
        open.push_back(input);
    }
    read_.insert(results_.begin(), results_.end());
    for (std::size_t i = 0; i < model_.nodes.size(); ++i)
      if (needed_[i]) read_.insert(model_.nodes[i].inputs.begin(), model_.nodes[i].inputs.end());
    read_.erase(""); // inputs that are left out
  }

  void refuse_unknown() const {
    std::vector<const Node *> unknown;
    std::set<std::string> others;
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      const Node &node = model_.nodes[i];
      if (!needed_[i]) continue;
      if (node.domain.empty() && (find_importer(node.type) != nullptr || is_known_only(node.type))) continue;
      if (unknown.empty() || node.type != unknown.front()->type) others.insert(node.type);
      unknown.push_back(&node);
    }
    if (unknown.empty()) return;
    others.erase(unknown.front()->type);
    fail(fmt::format(
        "{}, opset {}: the operator is not read{}{}; `gradweave models --operators` lists those that are, and "
        "--until NODE ends the network before it",
        describe(*unknown.front()), opset_of(*unknown.front()),
        others.empty() ? "" : fmt::format(", nor are {}", fmt::join(others, ", ")), remedy_for(*unknown.front())));
  }

  void add_value(Value value) {
    const std::string name = value.name;
    if (!values_.emplace(name, std::move(value)).second) fail(fmt::format("two values are called '{}'", name));
  }

  void add_inputs() {
    for (const InputSizes &input : input_sizes(model_, file_, options_)) {
      const std::string &name = input.info->name;
      if (read_.count(name) == 0) continue;
      if (bytes_of(input.info->type) == 0)
        fail(fmt::format("input '{}' is of {}, which is not read", name, to_string(input.info->type)));
      builder_.at(fmt::format("{}: input '{}'", file_, name));
      Value value;
      value.name = name;
      value.kind = kind_of(input.info->type);
      value.dims = input.dims;
      if (value.kind == Kind::kReal) {
        add_real_input(value);
      } else if (input.value) {
        value.order = plain_order(value.rank());
        value.literal = std::make_shared<Literal>(Literal{input.info->type, value.dims, {*input.value}});
      } else {
        value.order = plain_order(value.rank());
        value.tensor = builder_.input(name, ElementType::kInt32, shape_of(builder_, name, value.dims));
        builder_.set_below(value.tensor, values_below(input.info->type));
        value.host = std::make_shared<HostValue>(HostValue{input.info->type, value.dims, name});
      }
      add_value(std::move(value));
    }
  }

  void add_real_input(Value &value) {
    value.order = known_->order_of(value);
    const Shape theirs = shape_of(builder_, value.name, value.dims);
    value.tensor = builder_.input(value.name, ElementType::kFp32,
                                  shape_of(builder_, value.name, ordered(value.dims, value.order)));
    if (value.order != plain_order(value.rank()))
      builder_.set_origin(
          value.tensor, std::make_shared<Origin>(Origin{theirs, theirs, {value.order.begin(), value.order.end()}, {}}));
  }

  static std::uint32_t values_below(DataType type) {
    return type == DataType::kBool ? 2 : type == DataType::kUint8 ? 256 : 0;
  }

  void check_inputs(const Node &node) const {
    for (const std::string &input : node.inputs) {
      if (input.empty() || values_.find(input) != values_.end()) continue;
      const auto producer = producers_.find(input);
      if (producer == producers_.end())
        view(node).fail(fmt::format("reads '{}', which is no input, no initializer and no node's output", input));
      view(node).fail(fmt::format("reads '{}', which is computed by {} behind it: a cycle, or nodes out of order",
                                  input, describe(model_.nodes[producer->second])));
    }
  }

  /// Whether the node is an If with a known condition.
  bool decides(const Node &node) {
    if (node.type != "If" || !node.domain.empty() || node.inputs.size() != 1) return false;
    const auto condition = values_.find(node.inputs[0]);
    if (condition == values_.end() || !condition->second.known() || condition->second.literal->size() != 1)
      return false;
    branch_ = {first_output(node), condition->second.literal->number(0) != 0};
    return true;
  }

  void import_node(const Node &node) {
    check_inputs(node);
    const NodeView of = view(node);
    builder_.at(of.where());
    NodeImport import(of, builder_, placement_, values_, read_, expand_);
    if (aligns_by_axis(node, of.opset()) && align(import)) return;
    if (known_->give(import)) return;
    if (moves_truths(import)) return import_moved_truths(import);
    const TableEntry *entry = find_importer(node.type);
    if (entry == nullptr)
      of.fail("depends on the data; it is computed only of what is known from the file; --until NODE ends the network "
              "before it");
    for (const std::string &input : node.inputs)
      if (const auto value = values_.find(input); value != values_.end()) known_->take_from_host(value->second);
    entry->import(import);
    for (const std::string &output : node.outputs)
      if (const auto value = values_.find(output); value != values_.end()) remember_order(value->second);
  }

  /// Imports nodes in the place of one.
  void expand(std::vector<Node> nodes) {
    expanded_.push_back(std::move(nodes));
    for (const Node &node : expanded_.back())
      read_.insert(node.inputs.begin(), node.inputs.end());
    read_.erase("");
    for (const Node &node : expanded_.back())
      import_node(node);
  }

  /// The node with its second operand aligned by 'axis': 1s behind it, up to the dimensions of the first one. False:
  /// it fits as it is.
  bool align(NodeImport &node) {
    const Value &b = node.in(1);
    const std::size_t rank = node.in(0).rank();
    if (b.rank() == 0 || b.rank() >= rank || (node.is("PRelu") && b.rank() != 1)) return false;
    const std::size_t axis = node.axis(node.integer("axis", node.is("PRelu") ? 1 : -1), rank);
    if (axis + b.rank() >= rank) return false;
    Dims dims = b.dims;
    dims.resize(rank - axis, 1);
    Node shape, aligned = node.node();
    shape.name = node.name();
    shape.type = "Reshape";
    shape.outputs = {fmt::format("{}/aligned", node.name())};
    shape.opset = 1;
    shape.inputs = {aligned.inputs[1]};
    shape.attributes.emplace("shape", dims);
    aligned.inputs[1] = shape.outputs[0];
    aligned.attributes.erase("axis");
    aligned.opset = 7;
    expand({std::move(shape), std::move(aligned)});
    return true;
  }

  /// How a tensor that was computed lies in the file's dimensions, for whoever takes it out.
  void remember_order(const Value &value) {
    if (value.tensor == kNone || !builder_.tensor(value.tensor).computed() || builder_.tensor(value.tensor).origin)
      return;
    if (value.channels == 0 && value.order == plain_order(value.rank())) return;
    const Shape theirs = shape_of(builder_, value.name, value.dims);
    Origin origin{theirs, theirs, {value.order.begin(), value.order.end()}, {}};
    if (value.channels != 0) {
      const auto channels = static_cast<std::uint32_t>(value.channels);
      origin.cut = {theirs[0], channels, theirs[1] / channels};
      origin.order = {0, 2, 1};
    }
    builder_.set_origin(value.tensor, std::make_shared<Origin>(std::move(origin)));
  }

  void note_quantisation() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      const Node &node = model_.nodes[i];
      if (!needed_[i] || quantised_.count(first_output(node)) == 0) continue;
      ++count;
      if (std::count(results_.begin(), results_.end(), node.outputs.front()) != 0)
        fail(fmt::format("{}: its output '{}', whole numbers, is a result, and numbers are not rounded to so few; end "
                         "the network before it, with --until NODE",
                         describe(node), node.outputs.front()));
    }
    if (count != 0)
      graph_.notes.push_back(fmt::format("{} values are not quantised: numbers are not rounded to so few", count));
  }

  Model model_;
  std::string file_;
  const ImportOptions &options_;
  Graph graph_;
  Builder builder_;
  Placement placement_;
  std::optional<KnownValues> known_;
  Values values_;
  std::unordered_map<std::string, std::size_t> producers_; ///< nodes by what they compute
  std::vector<std::string> results_;
  std::deque<std::vector<Node>> expanded_; ///< what nodes of the file stand for
  Expand expand_ = [this](std::vector<Node> nodes) { expand(std::move(nodes)); };
  std::set<std::string> quantised_; ///< values that the file rounds to few
  std::vector<bool> needed_;
  std::pair<std::string, bool> branch_;
  ReadNames read_;
};

} // namespace

Graph import_model(Model model, const std::filesystem::path &file, const OperatorSet &operators,
                   const ImportOptions &options, ShapeReport *shapes) {
  while (has_branches(model.nodes)) {
    NetworkImport import(model, file, operators, options);
    if (std::optional<Graph> graph = import.run(shapes)) return std::move(*graph);
    take_branch(model, import.branch().first, import.branch().second, file.string());
  }
  return *NetworkImport(std::move(model), file, operators, options).run(shapes);
}

Graph read_onnx(const std::filesystem::path &file, const OperatorSet &operators, const ImportOptions &options,
                ShapeReport *shapes) {
  return import_model(read_model(file, options.values), file, operators, options, shapes);
}

} // namespace gradweave::graph::onnx
