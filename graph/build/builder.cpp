#include "graph/build/builder.hpp"

#include "graph/build/check_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gradweave::graph {

Builder::Builder(Graph &graph, const OperatorSet &operators) : graph_(graph), operators_(operators) {
  for (const Tensor &tensor : graph.tensors)
    tensor_names_.insert(tensor.name);
  for (Op &op : graph.ops) {
    op_names_.insert(op.name);
    number_own(op);
  }
}

void Builder::fail(std::string_view message) const {
  throw GraphError(where_.empty() ? std::string(message) : fmt::format("{}: {}", where_, message));
}

std::string Builder::fresh(std::string_view base) {
  return numbered(base,
                  [this](const std::string &name) { return tensor_names_.count(name) + op_names_.count(name) > 0; });
}

std::string Builder::fresh_op(std::string_view base) {
  return numbered(base, [this](const std::string &name) { return op_names_.count(name) > 0; });
}

std::string Builder::fresh_tensor(std::string_view base) {
  return numbered(base, [this](const std::string &name) { return tensor_names_.count(name) > 0; });
}

std::string Builder::numbered(std::string_view base, const std::function<bool(const std::string &)> &taken) {
  std::string name(base);
  std::uint32_t &next = next_number_.try_emplace(name, 2).first->second;
  while (taken(name))
    name = fmt::format("{}_{}", base, next++);
  return name;
}

void Builder::take_name(const std::string &name, bool op) {
  if (name.empty()) fail("a name is empty; give one");
  if ((op ? op_names_ : tensor_names_).insert(name).second) return;
  const TensorId other = graph_.find(name);
  const std::string &where = other == kNone ? std::string{} : graph_.tensors[other].where;
  fail(op ? fmt::format("two ops are called '{}'; rename one", name)
          : fmt::format("tensor '{}' has two writers{}; each is computed once: rename one", name,
                        where.empty() ? "" : ", the other in " + where));
}

void Builder::number_own(Op &op) {
  for (const AttributeSpec &spec : op.type->attributes) {
    if (!spec.own) continue;
    std::int64_t &next = next_own_[op.type];
    if (!op.attributes.has(spec.name)) op.attributes.set(std::string(spec.name), next);
    if (const auto *own = std::get_if<std::int64_t>(&op.attributes.all().at(std::string(spec.name))))
      next = std::max(next, *own < INT64_MAX ? *own + 1 : *own);
  }
}

TensorId Builder::add_tensor(Tensor tensor) {
  take_name(tensor.name, false);
  check_shape(tensor.shape,
              [&](std::string_view message) { fail(fmt::format("tensor '{}': {}", tensor.name, message)); });
  tensor.where = where_;
  graph_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph_.tensors.size() - 1);
}

TensorId Builder::input(std::string name, ElementType type, Shape shape) {
  return add_tensor({std::move(name), type, std::move(shape), Role::kInput, kNone, {}, {}, {}, false, true});
}

TensorId Builder::parameter(std::string name, Shape shape, std::string initial, bool frozen) {
  return add_tensor({std::move(name),
                     ElementType::kFp32,
                     std::move(shape),
                     Role::kParameter,
                     kNone,
                     {},
                     {},
                     std::move(initial),
                     frozen,
                     true});
}

TensorId Builder::state(std::string name, Shape shape, std::string initial) {
  return add_tensor({std::move(name),
                     ElementType::kFp32,
                     std::move(shape),
                     Role::kState,
                     kNone,
                     {},
                     {},
                     std::move(initial),
                     false,
                     true});
}

TensorId Builder::constant(std::string name, Shape shape, std::vector<double> values, ElementType type) {
  for (const double value : values) {
    const bool whole = value >= INT32_MIN && value <= INT32_MAX && value == std::floor(value);
    if (type == ElementType::kInt32 && !whole)
      fail(fmt::format("constant '{}' holds {}, which is no whole number of 32 bits", name,
                       to_string(Attribute(value))));
    if (exceeds_fp32(value))
      fail(fmt::format("constant '{}' holds {}, which is beyond fp32; its largest number is 3.4e38", name,
                       to_string(Attribute(value))));
  }
  if (values.size() != 1 && values.size() != shape.elements())
    fail(fmt::format("constant '{}' has {} values for {} elements of {}; give all, or one for all", name, values.size(),
                     shape.elements(), shape.text()));
  return add_tensor(
      {std::move(name), type, std::move(shape), Role::kConstant, kNone, {}, std::move(values), {}, false, true});
}

std::vector<TensorId> Builder::add_all(std::string_view type, std::vector<TensorId> inputs, Attributes attributes,
                                       std::string name, std::size_t outputs) {
  const Operator *entry = operators_.find(type);
  const bool splits = entry != nullptr && entry->splits;
  return add_named(type, std::move(inputs), std::move(attributes), std::move(name),
                   std::vector<std::optional<std::string>>(splits ? outputs : 0, std::string{}));
}

std::vector<TensorId> Builder::add_named(std::string_view type, std::vector<TensorId> inputs, Attributes attributes,
                                         std::string name, const std::vector<std::optional<std::string>> &outputs) {
  const Operator *entry = operators_.find(type);
  if (entry == nullptr)
    fail(fmt::format("there is no operator '{}'{}; `gradweave models --operators` lists those that there are", type,
                     name.empty() ? "" : fmt::format(" (node '{}')", name)));
  Op op;
  op.type = entry;
  op.name = name.empty() ? fresh(entry->name) : std::move(name);
  op.inputs = std::move(inputs);
  op.attributes = std::move(attributes);
  op.where = where_;
  take_name(op.name, true);
  const std::size_t count = entry->splits ? std::max<std::size_t>(1, outputs.size()) : entry->outputs.size();
  if (outputs.size() > count)
    fail(fmt::format("op '{}' ({}): {} results are named, and it has {}", op.name, entry->name, outputs.size(), count));
  op.outputs.resize(count, kNone);
  number_own(op);
  complete_attributes(op);
  const std::vector<Shape> shapes = check_op(graph_, op);
  for (std::size_t o = 0; o < count; ++o) {
    const bool given = o < outputs.size();
    if (!given || outputs[o])
      op.outputs[o] = add_output(op, o, shapes[o], given ? *outputs[o] : std::string{});
    else if (!entry->outputs[std::min(o, entry->outputs.size() - 1)].optional)
      fail(fmt::format("op '{}' ({}): result {} is left out, and has to be there; name it", op.name, entry->name, o));
  }
  graph_.ops.push_back(op);
  return op.outputs;
}

TensorId Builder::add_output(const Op &op, std::size_t o, const Shape &shape, std::string name) {
  const std::vector<OutputSpec> &specs = op.type->outputs;
  if (name.empty()) {
    const std::string_view suffix = op.type->splits ? std::string_view{} : specs[o].name;
    // An op and its first output share a name, unless a tensor has it.
    name = numbered(o == 0           ? op.name
                    : suffix.empty() ? fmt::format("{}.{}", op.name, o)
                                     : fmt::format("{}.{}", op.name, suffix),
                    [this](const std::string &n) { return tensor_names_.count(n) > 0; });
  }
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.type = first_type(graph_, op, specs[std::min(o, specs.size() - 1)].gives);
  tensor.shape = shape;
  tensor.role = role_;
  tensor.producer = static_cast<OpId>(graph_.ops.size());
  return add_tensor(std::move(tensor));
}

void Builder::rename(TensorId tensor, std::string name) {
  if (graph_.tensors[tensor].name == name) return;
  take_name(name, false);
  tensor_names_.erase(graph_.tensors[tensor].name);
  graph_.tensors[tensor].name = std::move(name);
}

void Builder::fix_type(TensorId tensor, ElementType type) {
  Tensor &t = graph_.tensors[tensor];
  if (is_real(t.type) != is_real(type))
    fail(fmt::format("tensor '{}' is {} and cannot be {}", t.name, to_string(t.type), to_string(type)));
  t.type = type;
  t.fixed_type = true;
}

void Builder::update(TensorId tensor, TensorId next) {
  check_update(graph_, {tensor, next}, [&](std::string_view message) { fail(message); });
  graph_.updates.push_back({tensor, next});
}

} // namespace gradweave::graph
