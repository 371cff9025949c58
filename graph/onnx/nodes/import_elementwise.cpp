// Arithmetic, comparisons and choices, element by element.
#include "graph/onnx/nodes/importers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradweave::graph::onnx {
namespace {

bool is_number(const Value &value) { return value.known() && value.literal->size() == 1 && value.rank() == 0; }
/// One element that repeats to whatever the other is.
bool is_scalar(const Value &value, std::size_t rank) {
  return value.known() && value.literal->size() == 1 && value.rank() <= rank;
}

/// Values side by side: the order of the result, and a tensor of each.
struct Beside {
  Order order;
  std::int64_t channels = 0;
  std::vector<TensorId> tensors;
};

/// Leading dimensions of 1 that no tensor has, for the result to have them.
void give_rank(NodeImport &node, const std::vector<const Value *> &values, Beside &beside) {
  const auto rank_of = [&node](TensorId tensor) { return node.build.shape(tensor).rank(); };
  const std::size_t rank = beside.order.size();
  if (std::any_of(beside.tensors.begin(), beside.tensors.end(), [&](TensorId t) { return rank_of(t) == rank; })) return;
  const auto computed = std::find_if(values.begin(), values.end(), [](const Value *v) { return v->tensor != kNone; });
  TensorId &tensor = beside.tensors[computed == values.end() ? 0 : static_cast<std::size_t>(computed - values.begin())];
  Dims dims = numbers(node.build.shape(tensor));
  dims.insert(dims.begin(), rank - dims.size(), 1);
  tensor = node.step("Reshape", {tensor}, {{"shape", dims}}, "ranked");
}

Beside beside(NodeImport &node, const std::vector<const Value *> &values) {
  Dims dims;
  for (const Value *value : values)
    dims = broadcast_dims(node, dims, value->dims);
  // A flattened image stays one beside single numbers.
  const Value *flat = nullptr;
  for (const Value *value : values)
    if (value->channels != 0 && value->dims == dims) flat = value;
  const bool stays =
      flat != nullptr && std::all_of(values.begin(), values.end(), [&](const Value *value) {
        return is_scalar(*value, dims.size()) || (value->channels == flat->channels && value->dims == dims);
      });
  Beside result{common_order(values, dims.size()), stays ? flat->channels : 0, {}};
  for (const Value *value : values)
    result.tensors.push_back(stays && value->channels != 0 ? value->tensor : node.place.beside(*value, result.order));
  give_rank(node, values, result);
  return result;
}

void give_beside(NodeImport &node, TensorId tensor, const Beside &beside) {
  Value like;
  like.order = beside.order;
  like.channels = beside.channels;
  const Dims stored = numbers(node.build.shape(tensor));
  like.kind = is_real(node.build.tensor(tensor).type) ? Kind::kReal : Kind::kTruth;
  like.dims.resize(stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i)
    like.dims[beside.order[i]] = stored[i];
  node.give_like(tensor, like);
}

/// A vector that is added to each row: what a layer's bias is.
bool is_bias(const NodeImport &node, const Value &value, TensorId vector, TensorId x) {
  return value.blob != nullptr && !value.known() && node.build.shape(vector).rank() == 1 &&
         node.build.shape(x).rank() >= 1 && node.build.shape(vector)[0] == node.build.shape(x).cols();
}

void give_sum(NodeImport &node, const Value &a, const Value &b) {
  const Beside both = beside(node, {&a, &b});
  const TensorId x = both.tensors[0], y = both.tensors[1];
  if (a.tensor != kNone && is_bias(node, b, y, x)) return give_beside(node, node.last("Bias", {x, y}), both);
  if (b.tensor != kNone && is_bias(node, a, x, y)) return give_beside(node, node.last("Bias", {y, x}), both);
  give_beside(node, node.last("Add", {x, y}), both);
}

} // namespace

void import_add(NodeImport &node) { give_sum(node, node.real_in(0), node.real_in(1)); }

void import_sub(NodeImport &node) {
  const Beside both = beside(node, {&node.real_in(0), &node.real_in(1)});
  give_beside(node, node.last("Sub", both.tensors), both);
}

void import_mul(NodeImport &node) {
  const Value &a = node.real_in(0), &b = node.real_in(1);
  if (is_scalar(b, a.rank())) return node.each("Scale", {{"value", b.literal->number(0)}}, 0);
  if (is_scalar(a, b.rank())) return node.each("Scale", {{"value", a.literal->number(0)}}, 1);
  const Beside both = beside(node, {&a, &b});
  give_beside(node, node.last("Mul", both.tensors), both);
}

void import_div(NodeImport &node) {
  const Value &a = node.real_in(0), &b = node.real_in(1);
  int exponent = 0;
  if (is_scalar(b, a.rank()) && std::abs(std::frexp(b.literal->number(0), &exponent)) == 0.5)
    return node.each("Scale", {{"value", 1 / b.literal->number(0)}}, 0); // exact
  if (is_number(a) && a.literal->number(0) == 1) return node.each("Reciprocal", {}, 1);
  const Beside both = beside(node, {&a, &b});
  give_beside(node, node.last("Div", both.tensors), both);
}

namespace {

/// An exponent as real numbers, whichever type the file has it in.
Value real_exponent(const NodeImport &node) {
  Value exponent = node.in(1);
  if (exponent.kind == Kind::kReal) return exponent;
  if (!exponent.known())
    node.fail(fmt::format("exponents '{}' are {} that depend on the data", exponent.name, to_string(exponent.kind)));
  Literal real{DataType::kFloat, exponent.dims};
  for (std::size_t i = 0; i < exponent.literal->size(); ++i)
    real.real.push_back(exponent.literal->number(i));
  exponent.kind = Kind::kReal;
  exponent.literal = std::make_shared<Literal>(std::move(real));
  return exponent;
}

} // namespace

void import_pow(NodeImport &node) {
  const Value &x = node.real_in(0);
  const Value exponents = real_exponent(node);
  const double exponent = is_scalar(exponents, x.rank()) ? exponents.literal->number(0) : 0;
  if (exponent == 1) return node.give(x);
  if (exponent == 0.5) return node.each("Sqrt");
  if (exponent == -1) return node.each("Reciprocal");
  if (exponent != 2 && exponent != 3 && exponent != 4 && exponent != -0.5) {
    const Beside both = beside(node, {&x, &exponents});
    return give_beside(node, node.last("Pow", both.tensors), both);
  }
  const TensorId tensor = x.tensor != kNone ? x.tensor : node.place.plain(x);
  Value like = x;
  if (x.tensor == kNone) like.order = plain_order(x.rank());
  if (exponent == 2) return node.give_like(node.last("Mul", {tensor, tensor}), like);
  if (exponent == -0.5) return node.give_like(node.last("Reciprocal", {node.step("Sqrt", {tensor})}), like);
  const TensorId square = node.step("Mul", {tensor, tensor}, {}, "square");
  node.give_like(node.last("Mul", {square, exponent == 3 ? tensor : square}), like);
}

void import_mod(NodeImport &node) {
  if (node.integer("fmod", 0) == 0) node.fail("real numbers need the attribute 'fmod' = 1");
  const Beside both = beside(node, {&node.real_in(0), &node.real_in(1)});
  give_beside(node, node.last("Mod", both.tensors), both);
}

void import_variadic(NodeImport &node) {
  const bool mean = node.is("Mean");
  const std::string op = mean || node.is("Sum") ? "Add" : node.node().type;
  const std::size_t count = node.node().inputs.size();
  node.require(count > 0, "has no inputs");
  if (count == 1) return node.give(node.real_in(0));
  std::vector<const Value *> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(&node.real_in(i));
  Beside all = beside(node, values);
  TensorId result = all.tensors[0];
  for (std::size_t i = 1; i < count; ++i)
    result = i + 1 < count || mean ? node.step(op, {result, all.tensors[i]}) : node.last(op, {result, all.tensors[i]});
  if (mean) result = node.last("Scale", {result}, {{"value", 1.0 / static_cast<double>(count)}});
  give_beside(node, result, all);
}

void import_comparison(NodeImport &node) {
  const Beside both = beside(node, {&node.real_in(0), &node.real_in(1)});
  give_beside(node, node.last(node.node().type, both.tensors), both);
}

void import_where(NodeImport &node) {
  const Value &condition = node.in(0);
  if (condition.kind == Kind::kReal) node.fail(fmt::format("input 0 '{}' must hold truth values", condition.name));
  const Beside all = beside(node, {&condition, &node.real_in(1), &node.real_in(2)});
  give_beside(node, node.last("Where", all.tensors), all);
}

void import_elementwise(NodeImport &node) { node.each(node.node().type); }

void import_cast(NodeImport &node) {
  const Value &x = node.in(0);
  const auto to = static_cast<DataType>(node.integer("to", 0));
  if (bytes_of(to) == 0) node.fail(fmt::format("attribute 'to' is {}, which is not read", to_string(to)));
  const Kind kind = kind_of(to);
  if (kind == x.kind) return node.give(x);
  if (x.kind == Kind::kTruth && kind == Kind::kWhole) {
    Value same = x;
    same.kind = Kind::kWhole;
    return node.give(same);
  }
  if (x.kind == Kind::kReal && kind == Kind::kTruth) {
    const TensorId tensor = x.tensor != kNone ? x.tensor : node.place.plain(x);
    const TensorId none = node.build.constant(node.build.fresh("zero"), {}, {0}, ElementType::kFp32);
    Value truths = x;
    if (x.tensor == kNone) truths.order = plain_order(x.rank());
    truths.kind = Kind::kTruth;
    return node.give_like(node.last("Greater", {node.step("Abs", {tensor}), none}), truths);
  }
  if (x.kind != Kind::kTruth || kind != Kind::kReal)
    node.fail(fmt::format("input 0 '{}' has {}, which depend on the data and cannot become {}", x.name,
                          to_string(x.kind), to_string(kind)));
  const TensorId one = node.build.constant(node.build.fresh("one"), {}, {1}, ElementType::kFp32);
  const TensorId zero = node.build.constant(node.build.fresh("zero"), {}, {0}, ElementType::kFp32);
  Value real = x;
  real.kind = Kind::kReal;
  node.give_like(node.last("Where", {x.tensor, one, zero}), real);
}

} // namespace gradweave::graph::onnx
