#include "graph/onnx/value/node_import.hpp"

#include "graph/onnx/fold/fold.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph::onnx {

const Value &NodeImport::in(std::size_t i) const {
  if (!has_input(i)) fail(fmt::format("input {} is missing", i));
  return values_.find(node().inputs[i])->second; // the network's import looked
}

const Value &NodeImport::real_in(std::size_t i) const {
  const Value &value = in(i);
  if (value.kind != Kind::kReal)
    fail(fmt::format("input {} '{}' has {}; real ones are wanted", i, value.name, to_string(value.kind)));
  return value;
}

Literal NodeImport::literal(std::size_t i, std::string_view what) const {
  const Value &value = in(i);
  if (value.known()) return *value.literal;
  if (value.blob != nullptr && !value.blob->bytes.empty() && value.order == plain_order(value.rank()))
    return literal_of(*value.blob);
  fail(fmt::format("input {} '{}' is {} and depends on the data; only what is known from the file is taken", i,
                   value.name, what));
}

Dims NodeImport::list(std::size_t input, std::string_view attribute, const Dims &fallback) const {
  if (!has_input(input)) return integers(attribute, fallback);
  const Literal known = literal(input, attribute);
  if (known.is_real() || known.dims.size() > 1)
    fail(fmt::format("input {} '{}' must be a list of whole numbers", input, in(input).name));
  return known.whole;
}

double NodeImport::number(std::size_t input, std::string_view attribute, double fallback) const {
  if (!has_input(input)) return real(attribute, fallback);
  const Literal known = literal(input, attribute);
  if (known.size() != 1) fail(fmt::format("input {} '{}' must be a single number", input, in(input).name));
  return known.number(0);
}

std::string NodeImport::name() const { return node().name.empty() ? first_output(node()) : node().name; }

TensorId NodeImport::step(std::string_view op, std::vector<TensorId> inputs, Attributes attributes,
                          std::string_view suffix) {
  std::string behind(suffix.empty() ? op : suffix);
  std::transform(behind.begin(), behind.end(), behind.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : static_cast<char>(c);
  });
  return build.add(op, std::move(inputs), std::move(attributes), build.fresh(fmt::format("{}.{}", name(), behind)));
}

TensorId NodeImport::last(std::string_view op, std::vector<TensorId> inputs, Attributes attributes) {
  return last_all(op, std::move(inputs), std::move(attributes), 1).front();
}

std::vector<TensorId> NodeImport::last_all(std::string_view op, std::vector<TensorId> inputs, Attributes attributes,
                                           std::size_t outputs) {
  std::vector<std::optional<std::string>> names;
  for (std::size_t o = 0; o < outputs; ++o)
    names.emplace_back(wants(o) ? build.fresh_tensor(node().outputs[o]) : std::string{});
  return build.add_named(op, std::move(inputs), std::move(attributes), build.fresh_op(name()), names);
}

void NodeImport::each(std::string_view op, const Attributes &attributes, std::size_t i) {
  const Value &x = real_in(i);
  const TensorId tensor = x.tensor != kNone ? x.tensor : place.plain(x);
  Value y = x;
  if (x.tensor == kNone) y.order = plain_order(x.rank());
  give_like(last(op, {tensor}, attributes), y);
}

void NodeImport::give(Value value, std::size_t o) {
  if (!wants(o)) return;
  if (value.tensor != kNone) {
    value.blob = nullptr;
    value.literal = nullptr;
  }
  value.name = node().outputs[o];
  if (!values_.emplace(node().outputs[o], value).second)
    fail(fmt::format("output '{}' is the name of another value, too; each is computed once", value.name));
}

void NodeImport::give(TensorId tensor, const Order &order, std::size_t o) {
  const Dims stored = numbers(build.shape(tensor));
  Value value;
  value.kind = is_real(build.tensor(tensor).type) ? Kind::kReal : Kind::kWhole;
  value.dims.resize(stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i)
    value.dims[order[i]] = stored[i];
  value.tensor = tensor;
  value.order = order;
  give(std::move(value), o);
}

void NodeImport::give_like(TensorId tensor, const Value &like) {
  Value value = like;
  value.tensor = tensor;
  give(std::move(value));
}

Value transposed(Value value, const Dims &perm) {
  Dims dims;
  Order inverse(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) {
    dims.push_back(value.dims[static_cast<std::size_t>(perm[i])]);
    inverse[static_cast<std::size_t>(perm[i])] = i;
  }
  if (value.known()) {
    Dims steps;
    for (const std::int64_t axis : perm)
      steps.push_back(steps_of(value.dims)[static_cast<std::size_t>(axis)]);
    value.literal = std::make_shared<Literal>(taken(*value.literal, dims, places(dims, steps)));
  }
  value.dims = std::move(dims);
  for (std::size_t &axis : value.order)
    axis = inverse[axis];
  return value;
}

Order common_order(const std::vector<const Value *> &values, std::size_t rank) {
  const Value *largest = nullptr;
  for (const Value *value : values)
    if (value->tensor != kNone && value->rank() == rank && value->channels == 0 &&
        (largest == nullptr || product_of(value->dims) > product_of(largest->dims)))
      largest = value;
  return largest == nullptr ? plain_order(rank) : largest->order;
}

Order without_axis(const Order &order, std::size_t axis) {
  Order result;
  for (const std::size_t a : order)
    if (a != axis) result.push_back(a > axis ? a - 1 : a);
  return result;
}

Order with_axis(const Order &order, std::size_t axis, std::size_t place) {
  Order result;
  for (const std::size_t a : order)
    result.push_back(a >= axis ? a + 1 : a);
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(place), axis);
  return result;
}

} // namespace gradweave::graph::onnx
