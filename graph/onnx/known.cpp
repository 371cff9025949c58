#include "graph/onnx/known.hpp"

#include "graph/onnx/fold/fold.hpp"
#include "graph/onnx/value/host_function.hpp"

#include <algorithm>
#include <cmath>

namespace gradweave::graph::onnx {
namespace {

constexpr std::uint64_t kLargestLiteral = 1U << 16U; ///< real numbers beyond are weights

/// Operators that only move elements about.
bool moves(std::string_view type) {
  constexpr std::string_view kMoves[] = {"Cast",    "Concat", "Flatten", "Identity",  "Reshape",
                                         "Squeeze", "Slice",  "Split",   "Transpose", "Unsqueeze"};
  return std::find(std::begin(kMoves), std::end(kMoves), type) != std::end(kMoves);
}

HostValuePtr host_literal(const Literal &literal) {
  auto value = std::make_shared<HostValue>();
  value->type = literal.type;
  value->dims = literal.dims;
  value->literal = std::make_shared<Literal>(literal);
  return value;
}

Literal shape_literal(const NodeImport &node) {
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

void give_literal(NodeImport &node, Literal literal, std::size_t output = 0, bool learnable = false,
                  bool frozen = false) {
  Value value;
  value.learnable = learnable;
  value.frozen = frozen;
  value.kind = kind_of(literal.type);
  value.dims = literal.dims;
  value.order = plain_order(value.rank());
  value.literal = std::make_shared<Literal>(std::move(literal));
  node.give(std::move(value), output);
}

} // namespace

KnownValues::KnownValues(Builder &build, const Model &model, std::set<std::string, std::less<>> images,
                         std::set<std::string> frozen)
    : build_(build), images_(std::move(images)), frozen_(std::move(frozen)),
      weights_are_nodes_(std::none_of(model.initializers.begin(), model.initializers.end(),
                                      [](const Blob &blob) { return is_real(blob.type) && blob.elements() > 1; })) {}

Value KnownValues::value_of(const std::string &name, const Blob &blob) const {
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
  value.frozen = frozen_.count(name) != 0;
  const auto elements = static_cast<std::int64_t>(blob.elements());
  const bool literal = !is_real(blob.type) || elements <= 1 || (value.frozen && elements <= NodeView::kMostConstant) ||
                       (blob.elements() <= kLargestLiteral && is_mask());
  if (there && literal) value.literal = std::make_shared<Literal>(literal_of(blob));
  if (is_real(blob.type)) value.blob = &blob;
  value.learnable = value.blob != nullptr;
  return value;
}

Order KnownValues::order_of(const Value &value) const {
  return images_.count(value.name) != 0 ? image_order(value.rank()) : plain_order(value.rank());
}

bool KnownValues::give_known(NodeImport &node) {
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
  bool learnable = false, frozen = false;
  for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
    const Value *value = node.has_input(i) ? &node.in(i) : nullptr;
    if (value != nullptr && !value->known()) return false;
    // What is moved about may still be a layer's weights.
    if (value != nullptr && value->blob != nullptr && value->rank() > 1 &&
        (node.is("Transpose") || node.is("Identity")))
      return false;
    learnable = learnable || (value != nullptr && value->learnable);
    frozen = frozen || (value != nullptr && value->frozen);
    inputs.literals.push_back(value == nullptr ? nullptr : value->literal.get());
  }
  if (give_filled(inputs, node)) return true;
  frozen = frozen && !node.is("DequantizeLinear"); // by its scale
  learnable = node.is("ConstantOfShape") || node.is("DequantizeLinear") || (learnable && moves(node.node().type));
  for (inputs.output = 0; inputs.output < node.node().outputs.size(); ++inputs.output)
    if (node.wants(inputs.output)) give_literal(node, fold(inputs), inputs.output, learnable, frozen);
  return true;
}

/// ConstantOfShape of more elements than are computed at once: weights of a network without any.
bool KnownValues::give_filled(const FoldInputs &inputs, NodeImport &node) {
  if (!node.is("ConstantOfShape")) return false;
  const Literal number = fill_of(node);
  Blob blob{first_output(node.node()), number.type, inputs.list(0, "shape", {}), {}};
  if (!number.is_real() || !problem_of(blob, false).empty() ||
      static_cast<std::int64_t>(blob.elements()) <= node.most())
    return false;
  blob.fill = number.real[0];
  filled_.push_back(std::move(blob));
  node.give(value_of(filled_.back().name, filled_.back()));
  return true;
}

/// Whole numbers that follow from inputs of whole numbers: they are computed before a step. False: they do not.
bool KnownValues::give_on_host(NodeImport &node) {
  std::vector<HostValuePtr> operands;
  bool open = false;
  for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
    const Value *value = node.has_input(i) ? &node.in(i) : nullptr;
    const bool whole = value != nullptr && value->host != nullptr && value->kind != Kind::kReal;
    if (value != nullptr && !whole && !value->known()) return false;
    open = open || whole;
    operands.push_back(value == nullptr ? nullptr : whole ? value->host : host_literal(*value->literal));
  }
  if (!open) return false;
  for (std::size_t o = 0; o < node.node().outputs.size(); ++o) {
    if (!node.wants(o)) continue;
    Value value;
    value.host = host_value_of(node, o, operands);
    if (value.host == nullptr) return false;
    value.kind = kind_of(value.host->type);
    value.dims = value.host->dims;
    value.order = plain_order(value.rank());
    node.give(std::move(value), o);
  }
  return true;
}

void KnownValues::take_from_host(Value &value) {
  if (value.host == nullptr || value.tensor != kNone) return;
  value.order = value.kind == Kind::kReal ? order_of(value) : plain_order(value.rank());
  value.tensor = add_host_input(build_, value, value.order);
}

void KnownValues::give_constant(NodeImport &node) const {
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

} // namespace gradweave::graph::onnx
