#include "graph/onnx/file/inline.hpp"

#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gradweave::graph::onnx {
namespace {

constexpr std::size_t kMostNodes = std::size_t{1} << 20U;

class Inliner {
public:
  Inliner(const std::vector<Function> &functions, const std::string &file) : file_(file), functions_(functions) {}

  std::vector<Node> run(std::vector<Node> nodes) {
    for (Node &node : nodes)
      add(std::move(node));
    return std::move(result_);
  }

private:
  [[noreturn]] void fail(const Node &node, std::string_view message) const {
    throw GraphError(fmt::format("{}: {}: {}", file_, describe(node), message));
  }

  const Function *function_of(const Node &node) const {
    const auto found = std::find_if(functions_.begin(), functions_.end(),
                                    [&](const Function &f) { return f.name == node.type && f.domain == node.domain; });
    return found == functions_.end() ? nullptr : &*found;
  }

  void add(Node node) {
    const Function *function = function_of(node);
    if (function == nullptr) {
      if (result_.size() == kMostNodes) fail(node, "functions make more than 2^20 nodes");
      inline_branches(node);
      result_.push_back(std::move(node));
      return;
    }
    if (++calls_ == kMostNodes) fail(node, "functions are called more than 2^20 times");
    if (std::find(open_.begin(), open_.end(), function) != open_.end())
      fail(node, "its function calls itself, by others or at once; ONNX has no recursion");
    if (node.inputs.size() > function->inputs.size() || node.outputs.size() > function->outputs.size())
      fail(node, fmt::format("has {} inputs and {} outputs, and its function {} and {}", node.inputs.size(),
                             node.outputs.size(), function->inputs.size(), function->outputs.size()));
    const std::string prefix = free_prefix(node);
    std::map<std::string, std::string> values;
    for (std::size_t i = 0; i < function->inputs.size(); ++i)
      values[function->inputs[i]] = i < node.inputs.size() ? node.inputs[i] : std::string{};
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      if (!node.outputs[o].empty()) rename_output(*function, o, node.outputs[o], values);
    open_.push_back(function);
    for (const Node &inner : function->nodes)
      add(bound(inner, node, *function, prefix, values));
    open_.pop_back();
    // An output that is an input of the function, under its own name.
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      if (const auto &name = function->outputs[o];
          std::find(function->inputs.begin(), function->inputs.end(), name) != function->inputs.end() &&
          !node.outputs[o].empty())
        result_.push_back({prefix, "Identity", {}, {values[name]}, {node.outputs[o]}, {}});
  }

  /// Calls of functions in the branches of an If.
  void inline_branches(Node &node) {
    for (auto &[name, attribute] : node.attributes)
      if (const auto *branch = std::get_if<std::shared_ptr<Branch>>(&attribute)) {
        Inliner inner(functions_, file_);
        inner.open_ = open_;
        inner.calls_ = calls_;
        (*branch)->nodes = inner.run(std::move((*branch)->nodes));
        calls_ = inner.calls_;
      }
  }

  static void rename_output(const Function &function, std::size_t o, const std::string &name,
                            std::map<std::string, std::string> &values) {
    if (std::find(function.inputs.begin(), function.inputs.end(), function.outputs[o]) == function.inputs.end())
      values[function.outputs[o]] = name;
  }

  /// A node of the function's body, as it is in this call.
  Node bound(const Node &inner, const Node &call, const Function &function, const std::string &prefix,
             std::map<std::string, std::string> &values) {
    Node node = inner;
    node.name = fmt::format("{}/{}", prefix, inner.name.empty() ? first_output(inner) : inner.name);
    if (node.opset == 0) node.opset = function.opset;
    for (const auto &[attribute, of_function] : inner.references) {
      const auto given = call.attributes.find(of_function);
      const auto fallback = function.defaults.find(of_function);
      if (given != call.attributes.end())
        node.attributes[attribute] = given->second;
      else if (fallback != function.defaults.end())
        node.attributes[attribute] = fallback->second;
    }
    node.references.clear();
    const auto rename = [&](std::string &name) {
      if (!name.empty()) name = values.try_emplace(name, fmt::format("{}/{}", prefix, name)).first->second;
    };
    std::for_each(node.inputs.begin(), node.inputs.end(), rename);
    std::for_each(node.outputs.begin(), node.outputs.end(), rename);
    for (auto &[name, attribute] : node.attributes) {
      auto *const branch = std::get_if<std::shared_ptr<Branch>>(&attribute);
      if (branch == nullptr) continue;
      *branch = std::make_shared<Branch>(**branch); // each call has its own
      for (Blob &blob : (*branch)->initializers)
        rename(blob.name);
      for (Node &own : (*branch)->nodes)
        own = bound(own, call, function, prefix, values);
      std::for_each((*branch)->outputs.begin(), (*branch)->outputs.end(), rename);
    }
    return node;
  }

  /// The node's name, with a number where another call has it.
  std::string free_prefix(const Node &node) {
    const std::string base = node.name.empty() ? first_output(node) : node.name;
    std::string prefix = base;
    for (std::size_t number = 2; !prefixes_.insert(prefix).second; ++number)
      prefix = fmt::format("{}_{}", base, number);
    return prefix;
  }

  const std::string &file_;
  const std::vector<Function> &functions_;
  std::size_t calls_ = 0;
  std::vector<const Function *> open_; ///< the functions that a node is within
  std::set<std::string> prefixes_;
  std::vector<Node> result_;
};

} // namespace

void inline_functions(Model &model, const std::string &file) {
  if (model.functions.empty()) return;
  model.nodes = Inliner(model.functions, file).run(std::move(model.nodes));
  model.functions.clear();
}

} // namespace gradweave::graph::onnx
