#include "graph/ir/graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gradweave::graph {

std::string_view to_string(ElementType type) {
  switch (type) {
  case ElementType::kFp32:
    return "fp32";
  case ElementType::kBf16:
    return "bf16";
  case ElementType::kInt32:
    return "int32";
  }
  return "?";
}

std::size_t bytes_of(ElementType type) { return type == ElementType::kBf16 ? 2 : 4; }

std::string_view to_string(Role role) {
  switch (role) {
  case Role::kInput:
    return "input";
  case Role::kParameter:
    return "parameter";
  case Role::kState:
    return "state";
  case Role::kConstant:
    return "constant";
  case Role::kActivation:
    return "activation";
  case Role::kGradient:
    return "gradient";
  case Role::kUpdated:
    return "updated";
  }
  return "?";
}

std::string_view to_string(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::kInteger:
    return "a whole number";
  case AttributeKind::kReal:
    return "a number";
  case AttributeKind::kIntegers:
    return "a list of whole numbers";
  case AttributeKind::kText:
    return "a text in quotes";
  }
  return "?";
}

namespace {

struct AttributeText {
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const {
    std::string text = fmt::format("{}", value);
    // Told apart from a whole number, and read back to the same bits.
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
  }
  std::string operator()(const std::vector<std::int64_t> &values) const {
    return fmt::format("[{}]", fmt::join(values, ", "));
  }
  std::string operator()(const std::string &value) const {
    std::string text = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    return text + '"';
  }
};

} // namespace

std::string to_string(const Attribute &value) { return std::visit(AttributeText{}, value); }

const Attribute &Attributes::get(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw std::out_of_range(fmt::format("no attribute '{}'", name));
  return found->second;
}

std::string Shape::text() const { return fmt::format("[{}]", fmt::join(dims_, ", ")); }

TensorId Graph::find(std::string_view tensor) const {
  for (TensorId id = 0; id < tensors.size(); ++id)
    if (tensors[id].name == tensor) return id;
  return kNone;
}

Consumers Graph::consumers() const {
  Consumers readers(tensors.size());
  for (OpId op = 0; op < ops.size(); ++op)
    for (const TensorId input : ops[op].inputs)
      if (input != kNone && (readers[input].empty() || readers[input].back() != op)) readers[input].push_back(op);
  return readers;
}

std::uint64_t count_parameters(const Graph &graph) {
  std::uint64_t count = 0;
  for (const Tensor &tensor : graph.tensors)
    if (tensor.role == Role::kParameter) count += tensor.shape.elements();
  return count;
}

std::uint64_t count_head_parameters(const Graph &graph) {
  std::uint64_t count = 0;
  for (const Tensor &tensor : graph.tensors)
    if (tensor.role == Role::kParameter && tensor.head) count += tensor.shape.elements();
  return count;
}

} // namespace gradweave::graph
