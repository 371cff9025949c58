#include "graph/partition/row_wise.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gradweave::graph {
namespace {

/// A letter an input. r: rows; w: whole; e: rows if it has as many as the result and dimensions like it, else it is
/// broadcast along the rows, whole. The last letter stands for all that follow.
constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
    {"Conv", "rw"},
    {"ConvInputGradient", "rw"},
    {"ConvTranspose", "rw"},
    {"Gemm", "rw"},
    {"GemmInputGradient", "rw"},
    {"Bias", "rw"},
    {"Cast", "r"},
    {"Scale", "r"},
    {"Neg", "r"},
    {"Abs", "r"},
    {"Sqrt", "r"},
    {"SqrtGradient", "r"},
    {"Reciprocal", "r"},
    {"ReciprocalGradient", "r"},
    {"Exp", "r"},
    {"Log", "r"},
    {"Erf", "r"},
    {"ErfGradient", "r"},
    {"Sin", "r"},
    {"Cos", "r"},
    {"Atan", "r"},
    {"AtanGradient", "r"},
    {"Round", "r"},
    {"Floor", "r"},
    {"Ceil", "r"},
    {"Clip", "r"},
    {"ClipGradient", "r"},
    {"Relu", "r"},
    {"ReluGradient", "r"},
    {"LeakyRelu", "r"},
    {"LeakyReluGradient", "r"},
    {"Sigmoid", "r"},
    {"SigmoidGradient", "r"},
    {"Tanh", "r"},
    {"TanhGradient", "r"},
    {"Silu", "r"},
    {"SiluGradient", "r"},
    {"HardSwish", "r"},
    {"HardSwishGradient", "r"},
    {"Softplus", "r"},
    {"SoftplusGradient", "r"},
    {"Gelu", "r"},
    {"GeluGradient", "r"},
    {"Add", "e"},
    {"Sub", "e"},
    {"Mul", "e"},
    {"Div", "e"},
    {"Max", "e"},
    {"Min", "e"},
    {"Less", "e"},
    {"LessOrEqual", "e"},
    {"Greater", "e"},
    {"GreaterOrEqual", "e"},
    {"Equal", "e"},
    {"NotEqual", "e"},
    {"Pow", "e"},
    {"Mod", "e"},
    {"Where", "e"},
    {"MaxPool", "r"},
    {"MaxPoolGradient", "r"},
    {"AveragePool", "r"},
    {"AveragePoolGradient", "r"},
    {"GlobalAveragePool", "r"},
    {"GlobalAveragePoolGradient", "r"},
    {"Resize", "r"},
    {"ResizeGradient", "r"},
    {"Softmax", "re"},
    {"SoftmaxGradient", "r"},
    {"LayerNormalization", "rw"},
    {"LayerNormalizationGradient", "rrrrw"},
    {"RMSNormalization", "rw"},
    {"RMSNormalizationGradient", "rrrw"},
    {"Reshape", "r"},
    {"Flatten", "r"},
    {"Transpose", "r"},
    {"SoftmaxCrossEntropyGradient", "wrrw"},
    {"MeanSquaredErrorGradient", "wrr"},
};

/// Whether the first dimension of the result is that of the batch in all that operators of that name do.
bool keeps_rows(const OpView &op) {
  const std::string_view name = op.op.type->name;
  if (name == "Transpose") return op.op.attributes.integers("perm").front() == 0;
  if (name == "Flatten") return op.op.attributes.integer("axis") > 0;
  return true;
}

} // namespace

std::optional<std::vector<RowInput>> row_wise_inputs(const OpView &op) {
  const auto *const kind =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto &k) { return k.first == op.op.type->name; });
  // A single dimension may be that of a reduction.
  if (kind == std::end(kKinds) || op.output(0).shape.rank() < 2 || !keeps_rows(op)) return std::nullopt;
  const Shape &result = op.output(0).shape;
  std::vector<RowInput> inputs;
  for (std::size_t i = 0; i < op.op.inputs.size(); ++i) {
    const char letter = kind->second[std::min(i, kind->second.size() - 1)];
    const bool rows = letter == 'r' || (letter == 'e' && op.has_input(i) && op.input(i).shape.rank() == result.rank() &&
                                        op.input(i).shape[0] == result[0]);
    inputs.push_back(rows ? RowInput::kRow : RowInput::kWhole);
  }
  return inputs;
}

TensorId whole_batch_of_loss(const OpView &op) {
  const auto &inputs = op.op.type->inputs;
  return !inputs.empty() && inputs.back().name == "whole" ? op.op.inputs[2] : kNone;
}

std::string_view split_of(ElementType type) { return is_real(type) ? "Split" : "SplitIndices"; }
std::string_view concat_of(ElementType type) { return is_real(type) ? "Concat" : "ConcatIndices"; }

Attributes attributes_of_rows(const OpView &op, std::uint32_t share, std::uint32_t of) {
  Attributes attributes = op.op.attributes;
  if (op.op.type->name == "MeanSquaredErrorGradient")
    attributes.set("elements", static_cast<std::int64_t>(op.output(0).shape.elements()));
  if (op.op.type->name != "Reshape") return attributes;
  std::vector<std::int64_t> shape = attributes.integers("shape");
  if (shape.front() > 0) shape.front() = shape.front() * share / of;
  attributes.set("shape", std::move(shape));
  return attributes;
}

} // namespace gradweave::graph
