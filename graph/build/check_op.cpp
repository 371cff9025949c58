#include "graph/build/check_op.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace gradweave::graph {
namespace {

constexpr std::size_t kMaxElements = std::size_t{1} << 40U;

const InputSpec &input_spec(const Operator &entry, std::size_t i) {
  return entry.inputs[std::min(i, entry.inputs.size() - 1)];
}

[[noreturn]] void fail(const Op &op, std::string_view message) {
  throw GraphError(fmt::format("{}: {}", describe(op), message));
}

void check_input(const Graph &graph, const Op &op, std::size_t i) {
  const InputSpec &spec = input_spec(*op.type, i);
  const TensorId id = op.inputs[i];
  if (id == kNone) {
    if (!spec.optional) fail(op, fmt::format("input '{}' is missing", spec.name));
    return;
  }
  if (id >= graph.tensors.size()) fail(op, fmt::format("input '{}' is a tensor that there is not", spec.name));
  const Tensor &tensor = graph.tensors[id];
  if (is_real(tensor.type) == (spec.takes == Takes::kIndex))
    fail(op, fmt::format("input '{}' is '{}', which is {}; {} wanted", spec.name, tensor.name, to_string(tensor.type),
                         spec.takes == Takes::kIndex ? "int32 is" : "fp32 or bf16 is"));
}

/// Arithmetic has an attribute in fp32 (docs/operators.md): what that cannot hold is a slip of whoever wrote it.
void check_real(const Op &op, const std::string &name, double value) {
  if (std::isnan(value)) fail(op, fmt::format("attribute '{}' = nan must be a number", name));
  if (exceeds_fp32(value))
    fail(op, fmt::format("attribute '{}' = {} is beyond fp32, whose largest number is 3.4e38", name,
                         to_string(Attribute(value))));
}

void check_inputs(const Graph &graph, const Op &op) {
  const Operator &entry = *op.type;
  const std::size_t most = entry.inputs.size();
  if (!entry.variadic && op.inputs.size() > most)
    fail(op, fmt::format("{} inputs given, at most {} wanted", op.inputs.size(), most));
  if (entry.variadic && op.inputs.empty()) fail(op, "no input given, at least one wanted");
  for (std::size_t i = op.inputs.size(); i < most && !(entry.variadic && i + 1 == most); ++i)
    if (!entry.inputs[i].optional) fail(op, fmt::format("input '{}' is missing", entry.inputs[i].name));
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    check_input(graph, op, i);
}

} // namespace

bool exceeds_fp32(double value) { return std::isfinite(value) && !std::isfinite(static_cast<float>(value)); }

void check_shape(const Shape &shape, const Fail &fail) {
  if (shape.rank() > Shape::kMaxRank)
    fail(fmt::format("{} has {} dimensions; there can be {}", shape.text(), shape.rank(), Shape::kMaxRank));
  std::size_t elements = 1;
  for (const std::uint32_t dim : shape.dims()) {
    if (dim == 0) fail(fmt::format("{} has a dimension of 0", shape.text()));
    if (elements > kMaxElements / dim) fail(fmt::format("{} has more than 2^40 elements", shape.text()));
    elements *= dim;
  }
}

void complete_attributes(Op &op) {
  const std::vector<AttributeSpec> &known = op.type->attributes;
  for (const auto &[name, value] : op.attributes.all()) {
    const auto spec = std::find_if(known.begin(), known.end(),
                                   [n = std::string_view(name)](const AttributeSpec &s) { return s.name == n; });
    if (spec == known.end()) {
      std::vector<std::string_view> names;
      for (const AttributeSpec &s : known)
        names.push_back(s.name);
      fail(op, fmt::format("there is no attribute '{}'; {}", name,
                           names.empty() ? "the operator has none" : fmt::format("known: {}", fmt::join(names, ", "))));
    }
    // A whole number will do for a real one.
    if (spec->kind == AttributeKind::kReal && std::holds_alternative<std::int64_t>(value))
      op.attributes.set(name, static_cast<double>(std::get<std::int64_t>(value)));
    else if (value.index() != static_cast<std::size_t>(spec->kind))
      fail(op, fmt::format("attribute '{}' = {} must be {}", name, to_string(value), to_string(spec->kind)));
    if (spec->kind == AttributeKind::kReal) check_real(op, name, op.attributes.real(name));
  }
  for (const AttributeSpec &spec : known)
    if (!op.attributes.has(spec.name)) {
      if (!spec.fallback) fail(op, fmt::format("attribute '{}' is missing: {}", spec.name, spec.summary));
      op.attributes.set(std::string(spec.name), *spec.fallback);
    }
}

std::vector<Shape> check_op(const Graph &graph, const Op &op) {
  check_inputs(graph, op);
  Inference inference(graph, op);
  op.type->infer(inference);
  for (const Shape &shape : inference.shapes())
    check_shape(shape, [&](std::string_view message) { fail(op, message); });
  return inference.shapes();
}

ElementType first_type(const Graph &graph, const Op &op, Gives gives) {
  if (gives == Gives::kIndex) return ElementType::kInt32;
  if (gives != Gives::kAsInput) return ElementType::kFp32;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i] != kNone && input_spec(*op.type, i).takes != Takes::kIndex)
      return graph.tensors[op.inputs[i]].type;
  return ElementType::kFp32;
}

void check_update(const Graph &graph, const Update &update, const Fail &fail) {
  const Tensor &tensor = graph.tensors.at(update.tensor);
  const Tensor &next = graph.tensors.at(update.next);
  if (tensor.role != Role::kParameter && tensor.role != Role::kState)
    fail(fmt::format("'{}' is no parameter and no state, and cannot be updated", tensor.name));
  if (tensor.shape != next.shape || tensor.type != next.type)
    fail(fmt::format("'{}' is {} {} and cannot become '{}', which is {} {}", tensor.name, to_string(tensor.type),
                     tensor.shape.text(), next.name, to_string(next.type), next.shape.text()));
  for (const Update &other : graph.updates)
    if (&other != &update && other.tensor == update.tensor)
      fail(fmt::format("'{}' is updated twice, by '{}' and '{}'; remove one, or freeze what the optimizer is to leave",
                       tensor.name, graph.tensors[other.next].name, next.name));
}

} // namespace gradweave::graph
