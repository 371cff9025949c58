#include "graph/onnx/old_forms.hpp"

#include <algorithm>
#include <cctype>

namespace gradweave::graph::onnx {
namespace {

/// "FLOAT16", as opsets below 6 write it; kUndefined: it is none.
DataType type_named(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (int number = 1; number <= static_cast<int>(DataType::kBfloat16); ++number)
    if (to_string(static_cast<DataType>(number)) == name) return static_cast<DataType>(number);
  return DataType::kUndefined;
}

void rename(Node &node, std::string_view from, const std::string &to) {
  const auto found = node.attributes.find(from);
  if (found == node.attributes.end()) return;
  node.attributes.emplace(to, std::move(found->second));
  node.attributes.erase(found);
}

double number_of(const Node &node, std::string_view name) {
  const auto found = node.attributes.find(name);
  const double *const value = found == node.attributes.end() ? nullptr : std::get_if<double>(&found->second);
  return value == nullptr ? 1 : *value;
}

void renew(Node &node, std::int64_t opset) {
  if (node.type == "Cast")
    if (const auto to = node.attributes.find("to"); to != node.attributes.end())
      if (const auto *name = std::get_if<std::string>(&to->second))
        to->second = static_cast<std::int64_t>(type_named(*name));
  if (node.type == "Concat" && opset < 4) node.attributes.emplace("axis", std::int64_t{1});
  if (node.type == "Pad" && opset < 2) rename(node, "paddings", "pads");
  if (node.type == "Upsample" && node.attributes.count("height_scale") != 0)
    node.attributes.emplace("scales",
                            std::vector<double>{1, 1, number_of(node, "height_scale"), number_of(node, "width_scale")});
}

} // namespace

void renew_attributes(Model &model) {
  for (Node &node : model.nodes)
    renew(node, node.opset == 0 ? model.opset() : node.opset);
}

bool aligns_by_axis(const Node &node, std::int64_t opset) {
  constexpr std::string_view kAligned[] = {"Add", "And", "Div",   "Equal", "Greater", "Less",
                                           "Mul", "Or",  "PRelu", "Pow",   "Sub",     "Xor"};
  if (opset >= 7 || node.inputs.size() != 2) return false;
  if (std::find(std::begin(kAligned), std::end(kAligned), node.type) == std::end(kAligned)) return false;
  return node.type == "PRelu" || node.attributes.count("axis") != 0;
}

} // namespace gradweave::graph::onnx
