#include "graph/onnx/branch.hpp"

#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gradweave::graph::onnx {
namespace {

using Names = std::map<std::string, std::string>;

std::set<std::string> names_of(const Model &model) {
  std::set<std::string> names;
  for (const ValueInfo &input : model.inputs)
    names.insert(input.name);
  for (const Blob &blob : model.initializers)
    names.insert(blob.name);
  for (const Node &node : model.nodes)
    names.insert(node.outputs.begin(), node.outputs.end());
  return names;
}

void rename(std::string &name, const Names &names) {
  if (const auto found = names.find(name); found != names.end()) name = found->second;
}

void rename(Node &node, const Names &names) {
  for (std::string &input : node.inputs)
    rename(input, names);
  for (std::string &output : node.outputs)
    rename(output, names);
  for (auto &[attribute, value] : node.attributes) {
    const auto *const branch = std::get_if<std::shared_ptr<Branch>>(&value);
    if (branch == nullptr) continue;
    auto own = std::make_shared<Branch>(**branch);
    for (Node &inner : own->nodes)
      rename(inner, names);
    for (std::string &output : own->outputs)
      rename(output, names);
    value = std::move(own);
  }
}

/// Names of a branch's values in the model: an output is the If's, and what the model has already is another one.
Names renamed(const Branch &branch, const Node &choice, const Model &model) {
  Names names;
  const std::set<std::string> taken = names_of(model);
  const std::string prefix = choice.name.empty() ? first_output(choice) : choice.name;
  const auto add = [&](const std::string &name) {
    if (!name.empty() && taken.count(name) != 0) names.emplace(name, fmt::format("{}/{}", prefix, name));
  };
  for (const Blob &blob : branch.initializers)
    add(blob.name);
  for (const Node &node : branch.nodes)
    for (const std::string &output : node.outputs) {
      if (output.empty()) continue;
      const auto given = std::find(branch.outputs.begin(), branch.outputs.end(), output);
      const auto at = static_cast<std::size_t>(given - branch.outputs.begin());
      if (at < choice.outputs.size() && !choice.outputs[at].empty())
        names.emplace(output, choice.outputs[at]);
      else
        add(output);
    }
  return names;
}

} // namespace

bool has_branches(const std::vector<Node> &nodes) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node &node) { return node.domain.empty() && node.type == "If"; });
}

void take_branch(Model &model, const std::string &output, bool condition, const std::string &file) {
  const auto at = std::find_if(model.nodes.begin(), model.nodes.end(), [&](const Node &node) {
    return std::find(node.outputs.begin(), node.outputs.end(), output) != node.outputs.end();
  });
  const Node choice = *at;
  const std::string_view name = condition ? "then_branch" : "else_branch";
  const auto attribute = choice.attributes.find(name);
  const auto *const branch =
      attribute == choice.attributes.end() ? nullptr : std::get_if<std::shared_ptr<Branch>>(&attribute->second);
  if (branch == nullptr || (*branch)->outputs.size() != choice.outputs.size())
    throw GraphError(fmt::format("{}: {}: attribute '{}' is no graph of {} outputs; export the model again", file,
                                 describe(choice), name, choice.outputs.size()));
  const Names names = renamed(**branch, choice, model);
  for (Blob blob : (*branch)->initializers) {
    rename(blob.name, names);
    model.initializers.push_back(std::move(blob));
  }
  std::vector<Node> nodes = (*branch)->nodes;
  for (Node &node : nodes) {
    rename(node, names);
    if (node.opset == 0) node.opset = choice.opset;
  }
  for (std::size_t o = 0; o < choice.outputs.size(); ++o) {
    std::string own = (*branch)->outputs[o];
    rename(own, names);
    if (own != choice.outputs[o] && !choice.outputs[o].empty())
      nodes.push_back({choice.name, "Identity", {}, {own}, {choice.outputs[o]}, {}});
  }
  const auto behind = model.nodes.erase(at);
  model.nodes.insert(behind, std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
}

} // namespace gradweave::graph::onnx
