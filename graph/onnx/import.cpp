#include "graph/onnx/import.hpp"

#include "graph/build/builder.hpp"
#include "graph/onnx/file/read_model.hpp"
#include "graph/onnx/fold/fold.hpp"
#include "graph/onnx/inputs.hpp"
#include "graph/onnx/nodes/table.hpp"
#include "graph/onnx/patterns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

namespace gradweave::graph::onnx {
namespace {

constexpr std::uint64_t kLargestLiteral = 1U << 16U; ///< real numbers beyond are weights

bool is_known_only(std::string_view type) {
  return type == "Constant" || type == "Shape" || type == "Size" || find_folder(type) != nullptr;
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
    for (const Node &node : model_.nodes)
      if (node.outputs.empty()) fail(fmt::format("{} has no outputs", describe(node)));
    weights_are_nodes_ = std::none_of(model_.initializers.begin(), model_.initializers.end(),
                                      [](const Blob &blob) { return is_real(blob.type) && blob.elements() > 1; });
    recognise_patterns(model_.nodes, model_, options.until);
  }

  Graph run(ShapeReport *shapes) {
    find_producers();
    find_results();
    find_needed();
    refuse_unknown();
    for (const Blob &blob : model_.initializers)
      add_initializer(blob);
    add_inputs();
    for (std::size_t i = 0; i < model_.nodes.size(); ++i)
      if (needed_[i]) import_node(model_.nodes[i]);
    add_results();
    if (shapes != nullptr)
      for (const auto &[name, value] : values_)
        shapes->emplace(name, value.dims);
    verify(graph_);
    return std::move(graph_);
  }

private:
  [[noreturn]] void fail(std::string_view message) const { throw GraphError(fmt::format("{}: {}", file_, message)); }
  NodeView view(const Node &node) const { return {node, model_.opset(), file_}; }

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
        "{}, opset {}: the operator is not read{}; `gradweave models --operators` lists those that are, and "
        "--until NODE ends the network before it",
        describe(*unknown.front()), model_.opset(),
        others.empty() ? "" : fmt::format(", nor are {}", fmt::join(others, ", "))));
  }

  void add_value(Value value) {
    const std::string name = value.name;
    if (!values_.emplace(name, std::move(value)).second) fail(fmt::format("two values are called '{}'", name));
  }

  Value value_of(const std::string &name, const Blob &blob) const {
    Value value;
    value.name = name;
    value.kind = kind_of(blob.type);
    value.dims = blob.dims;
    value.order = plain_order(value.rank());
    const bool there = !blob.bytes.empty() || blob.elements() == 0;
    // No weight is infinite: such a tensor is a mask.
    const auto is_mask = [&] {
      const std::vector<float> values = floats_of(blob);
      return std::any_of(values.begin(), values.end(), [](float v) { return std::isinf(v); });
    };
    const bool literal =
        !is_real(blob.type) || blob.elements() <= 1 || (blob.elements() <= kLargestLiteral && is_mask());
    if (there && literal) value.literal = std::make_shared<Literal>(literal_of(blob));
    if (is_real(blob.type)) value.blob = &blob;
    return value;
  }

  void add_initializer(const Blob &blob) { add_value(value_of(blob.name, blob)); }

  void add_inputs() {
    const auto images = images_among(model_), cast = numbers_cast_to_real(model_);
    const std::vector<InputSizes> inputs = input_sizes(model_, file_, options_);
    std::set<std::string_view> read;
    for (std::size_t i = 0; i < model_.nodes.size(); ++i)
      if (needed_[i]) read.insert(model_.nodes[i].inputs.begin(), model_.nodes[i].inputs.end());
    for (const InputSizes &input : inputs) {
      const std::string &name = input.info->name;
      if (read.count(name) == 0) continue;
      if (bytes_of(input.info->type) == 0)
        fail(fmt::format("input '{}' is of {}, which is not read", name, to_string(input.info->type)));
      builder_.at(fmt::format("{}: input '{}'", file_, name));
      Value value;
      value.name = name;
      value.kind = cast.count(name) != 0 ? Kind::kReal : kind_of(input.info->type);
      value.dims = input.dims;
      value.order = images.count(name) != 0 ? image_order(value.rank()) : plain_order(value.rank());
      const Shape theirs = shape_of(builder_, name, value.dims);
      value.tensor = builder_.input(name, value.kind == Kind::kReal ? ElementType::kFp32 : ElementType::kInt32,
                                    shape_of(builder_, name, ordered(value.dims, value.order)));
      if (value.order != plain_order(value.rank()))
        builder_.set_origin(value.tensor, std::make_shared<Origin>(
                                              Origin{theirs, theirs, {value.order.begin(), value.order.end()}, {}}));
      add_value(std::move(value));
    }
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

  void import_node(const Node &node) {
    check_inputs(node);
    const NodeView of(node, model_.opset(), file_);
    builder_.at(of.where());
    NodeImport import(of, builder_, placement_, values_);
    if (give_known(import)) return;
    const TableEntry *entry = find_importer(node.type);
    if (entry == nullptr) of.fail("depends on the data; it is computed only of what is known from the file");
    entry->import(import);
    for (const std::string &output : node.outputs)
      if (const auto value = values_.find(output); value != values_.end()) remember_order(value->second);
  }

  /// Nodes whose outputs follow from the file alone. False: it is none.
  bool give_known(NodeImport &node) {
    if (node.is("Constant")) {
      give_constant(node);
      return true;
    }
    if (node.is("Shape") || node.is("Size")) {
      give_literal(node, shape_literal(node));
      return true;
    }
    const Folder fold = find_folder(node.node().type);
    if (fold == nullptr) return false;
    FoldInputs inputs{node, {}};
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
      const Value *value = node.has_input(i) ? &node.in(i) : nullptr;
      if (value != nullptr && !value->known()) return false;
      // What is moved about may still be a layer's weights.
      if (value != nullptr && value->blob != nullptr && value->rank() > 1 &&
          (node.is("Transpose") || node.is("Identity")))
        return false;
      inputs.literals.push_back(value == nullptr ? nullptr : value->literal.get());
    }
    give_literal(node, fold(inputs));
    return true;
  }

  static Literal shape_literal(const NodeImport &node) {
    const Dims &dims = node.in(0).dims;
    if (node.is("Size")) {
      Literal size = whole_numbers({product_of(dims)});
      size.dims = {};
      return size;
    }
    const auto rank = static_cast<std::int64_t>(dims.size());
    const auto clamped = [rank](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
    const std::int64_t start = clamped(node.integer("start", 0)), end = clamped(node.integer("end", rank));
    return whole_numbers(start < end ? Dims(dims.begin() + start, dims.begin() + end) : Dims{});
  }

  static void give_literal(NodeImport &node, Literal literal) {
    Value value;
    value.kind = kind_of(literal.type);
    value.dims = literal.dims;
    value.order = plain_order(value.rank());
    value.literal = std::make_shared<Literal>(std::move(literal));
    node.give(std::move(value));
  }

  void give_constant(NodeImport &node) const {
    for (const auto &[name, attribute] : node.node().attributes) {
      if (const auto *blob = std::get_if<Blob>(&attribute); blob != nullptr && name == "value") {
        Value value = value_of(node.node().outputs.front(), *blob);
        if (!weights_are_nodes_ && !value.known() && !blob->bytes.empty() && blob->elements() <= kLargestLiteral)
          value.literal = std::make_shared<Literal>(literal_of(*blob));
        return node.give(std::move(value));
      }
      Literal literal{DataType::kFloat};
      if (name == "value_float") literal.real = {node.real(name, 0)};
      if (name == "value_floats") {
        if (const auto *list = std::get_if<std::vector<double>>(&attribute)) literal.real = *list;
        literal.dims = {static_cast<std::int64_t>(literal.real.size())};
      }
      if (name == "value_int" || name == "value_ints") {
        literal.type = DataType::kInt64;
        literal.whole = name == "value_int" ? Dims{node.integer(name, 0)} : node.integers(name, {});
        if (name == "value_ints") literal.dims = {static_cast<std::int64_t>(literal.whole.size())};
      }
      if (literal.size() == 0 && literal.dims.empty()) continue;
      return give_literal(node, std::move(literal));
    }
    node.fail("has no value that is read");
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

  void add_results() {
    std::set<TensorId> taken;
    for (const std::string &name : results_) {
      const auto found = values_.find(name);
      if (found == values_.end()) {
        if (!options_.until.empty()) continue; // an output that the node's import does not give
        fail(fmt::format("output '{}' is computed by no node", name));
      }
      builder_.at(fmt::format("{}: output '{}'", file_, name));
      TensorId tensor = placement_.plain(found->second);
      const bool own = builder_.tensor(tensor).computed() && taken.count(tensor) == 0;
      // A constant that is a result gives its name to what is computed of it.
      if (found->second.tensor == kNone && builder_.tensor(tensor).name == name)
        builder_.rename(tensor, builder_.fresh_tensor(name + ".stored"));
      if (!own)
        tensor = builder_.add("Reshape", {tensor}, {{"shape", numbers(builder_.shape(tensor))}}, builder_.fresh(name));
      // What the result was made of, in another order, gives its name away.
      if (const TensorId value = found->second.tensor;
          value != tensor && value != kNone && builder_.tensor(value).name == name)
        builder_.rename(value, builder_.fresh(name + ".stored"));
      if (builder_.tensor(tensor).name != name) builder_.rename(tensor, builder_.fresh_tensor(name));
      taken.insert(tensor);
      graph_.results.push_back(tensor);
    }
    if (graph_.results.empty()) fail("nothing is computed");
  }

  Model model_;
  std::string file_;
  const ImportOptions &options_;
  Graph graph_;
  Builder builder_;
  Placement placement_;
  Values values_;
  std::unordered_map<std::string, std::size_t> producers_; ///< nodes by what they compute
  std::vector<std::string> results_;
  std::vector<bool> needed_;
  bool weights_are_nodes_ = false; ///< no initializer is one: Constant nodes have them
};

} // namespace

Graph import_model(Model model, const std::filesystem::path &file, const OperatorSet &operators,
                   const ImportOptions &options, ShapeReport *shapes) {
  return NetworkImport(std::move(model), file, operators, options).run(shapes);
}

Graph read_onnx(const std::filesystem::path &file, const OperatorSet &operators, const ImportOptions &options,
                ShapeReport *shapes) {
  return import_model(read_model(file, options.values), file, operators, options, shapes);
}

} // namespace gradweave::graph::onnx
