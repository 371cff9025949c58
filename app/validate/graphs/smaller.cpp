#include "app/validate/graphs/smaller.hpp"

#include "graph/build/builder.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/dead_code.hpp"
#include "graph/text/print.hpp"
#include "graph/text/read.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace gradweave::graphs {
namespace {

using graph::Attribute;
using graph::Graph;
using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::Role;
using graph::Tensor;
using graph::TensorId;

using Numbers = std::vector<std::int64_t>;

/// Drops what nothing needs, but no optional output of an op that stays: the derivative may want it.
void drop_unneeded(Graph &graph) {
  Graph needed = graph;
  graph::drop_dead_code(needed, nullptr, graph::Unread::kGo);
  std::set<std::string> ops;
  for (const Op &op : needed.ops)
    ops.insert(op.name);
  std::vector<TensorId> outputs;
  for (const Op &op : graph.ops)
    if (ops.count(op.name) > 0)
      std::copy_if(op.outputs.begin(), op.outputs.end(), std::back_inserter(outputs),
                   [](TensorId id) { return id != kNone; });
  graph::drop_dead_code(graph, &outputs, graph::Unread::kGo);
}

/// All who read `from` read `to`.
void replace_uses(Graph &graph, TensorId from, TensorId to) {
  for (Op &op : graph.ops)
    std::replace(op.inputs.begin(), op.inputs.end(), from, to);
  if (graph.loss == from) graph.loss = to;
  std::replace(graph.results.begin(), graph.results.end(), from, to);
}

/// A tensor that is given in the place of one that is computed.
void cut_off(Graph &graph, TensorId id) {
  Tensor leaf;
  leaf.name = graph.tensors[id].name + ".given";
  leaf.type = graph.tensors[id].type;
  leaf.shape = graph.tensors[id].shape;
  leaf.fixed_type = true;
  leaf.role = Role::kInput;
  if (!graph::is_real(leaf.type)) { // no reader may tell its range
    leaf.role = Role::kConstant;
    leaf.values = {1};
  }
  const auto given = static_cast<TensorId>(graph.tensors.size());
  graph.tensors.push_back(std::move(leaf));
  replace_uses(graph, id, given);
}

/// The loss is the mean of one tensor.
bool mean_as_loss(Graph &graph, TensorId of) {
  const std::size_t before = graph.ops.size();
  if (const Tensor &loss = graph.tensors[graph.loss]; loss.computed() && graph.ops[loss.producer].inputs[0] == of)
    return false;
  // What stands behind it is of no use any more.
  graph.results.clear();
  graph.loss = kNone;
  graph::Builder build(graph, graph::operators());
  graph.loss = build.add("ReduceMean", {of}, {{"keepdims", std::int64_t{0}}}, build.fresh("loss"));
  drop_unneeded(graph);
  return graph.ops.size() < before;
}

void add_losses(const Graph &graph, std::vector<Reduction> &all) {
  for (const Op &op : graph.ops)
    for (const TensorId id : op.outputs)
      if (id != kNone && graph::is_real(graph.tensors[id].type))
        all.emplace_back([id](Graph &g) { return mean_as_loss(g, id); });
}

void add_ops(const Graph &graph, std::vector<Reduction> &all) {
  for (OpId at = static_cast<OpId>(graph.ops.size()); at-- > 0;)
    for (const TensorId output : graph.ops[at].outputs) {
      if (output == kNone) continue;
      const Tensor &tensor = graph.tensors[output];
      for (const TensorId input : graph.ops[at].inputs)
        if (input != kNone && graph.tensors[input].shape == tensor.shape &&
            graph::is_real(graph.tensors[input].type) == graph::is_real(tensor.type))
          all.emplace_back([output, input](Graph &g) {
            replace_uses(g, output, input);
            return true;
          });
      if (output != graph.loss)
        all.emplace_back([output](Graph &g) {
          cut_off(g, output);
          return true;
        });
    }
}

void add_marks(const Graph &graph, std::vector<Reduction> &all) {
  for (std::size_t i = 0; i < graph.results.size(); ++i)
    all.emplace_back([i](Graph &g) {
      g.results.erase(g.results.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    });
  for (std::size_t i = 0; i < graph.updates.size(); ++i)
    all.emplace_back([i](Graph &g) {
      g.updates.erase(g.updates.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    });
}

/// Each dimension and each number of an attribute that is `from` becomes `to`.
bool resize(Graph &graph, std::uint32_t from, std::uint32_t to) {
  for (Tensor &tensor : graph.tensors)
    if (!tensor.computed()) {
      for (std::size_t axis = 0; axis < tensor.shape.rank(); ++axis)
        if (tensor.shape[axis] == from) tensor.shape.set(axis, to);
      if (tensor.values.size() != tensor.shape.elements() && tensor.values.size() > 1) tensor.values.resize(1);
    }
  for (Op &op : graph.ops) {
    const graph::Attributes before = op.attributes;
    for (const auto &[name, value] : before.all())
      if (const auto *numbers = std::get_if<Numbers>(&value)) {
        Numbers changed = *numbers;
        std::replace(changed.begin(), changed.end(), std::int64_t{from}, std::int64_t{to});
        op.attributes.set(name, changed);
      } else if (value == Attribute(std::int64_t{from}) && name == "group") {
        op.attributes.set(name, std::int64_t{to});
      }
  }
  return true;
}

void add_dimensions(const Graph &graph, std::vector<Reduction> &all) {
  std::set<std::uint32_t, std::greater<>> lengths;
  for (const Tensor &tensor : graph.tensors)
    if (!tensor.computed())
      for (const std::uint32_t dim : tensor.shape.dims())
        lengths.insert(dim);
  for (const std::uint32_t from : lengths)
    for (const std::uint32_t to : std::set<std::uint32_t>{1, 2, 3, from / 2, from - 1})
      if (to > 0 && to < from) all.emplace_back([from, to](Graph &g) { return resize(g, from, to); });
  for (TensorId id = 0; id < graph.tensors.size(); ++id)
    for (std::size_t axis = 0; !graph.tensors[id].computed() && axis < graph.tensors[id].shape.rank(); ++axis)
      if (graph.tensors[id].shape[axis] > 1)
        all.emplace_back([id, axis](Graph &g) {
          g.tensors[id].shape.set(axis, g.tensors[id].shape[axis] / 2);
          if (g.tensors[id].values.size() > 1) g.tensors[id].values.resize(1);
          return true;
        });
}

void add_attributes(const Graph &graph, std::vector<Reduction> &all) {
  for (OpId at = 0; at < graph.ops.size(); ++at) {
    const Op &op = graph.ops[at];
    for (const graph::AttributeSpec &spec : op.type->attributes) {
      const std::string name(spec.name);
      const Attribute value = op.attributes.all().at(name);
      if (spec.fallback && value != *spec.fallback)
        all.emplace_back([at, name, usual = *spec.fallback](Graph &g) {
          g.ops[at].attributes.set(name, usual);
          return true;
        });
      const auto *numbers = std::get_if<Numbers>(&value);
      for (std::size_t i = 0; numbers != nullptr && i < numbers->size(); ++i)
        if ((*numbers)[i] > 1)
          all.emplace_back([at, name, changed = *numbers, i](Graph &g) mutable {
            --changed[i];
            g.ops[at].attributes.set(name, changed);
            return true;
          });
    }
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if (op.inputs[i] != kNone && (op.type->variadic || (i < op.type->inputs.size() && op.type->inputs[i].optional)))
        all.emplace_back([at, i](Graph &g) {
          Op &changed = g.ops[at];
          if (changed.type->variadic)
            changed.inputs.erase(changed.inputs.begin() + static_cast<std::ptrdiff_t>(i));
          else
            changed.inputs[i] = kNone;
          return true;
        });
  }
}

/// What is given is fp32, and no parameter.
void add_leaves(const Graph &graph, std::vector<Reduction> &all) {
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const Tensor &tensor = graph.tensors[id];
    if (tensor.computed()) continue;
    if (tensor.type == graph::ElementType::kBf16)
      all.emplace_back([id](Graph &g) {
        g.tensors[id].type = graph::ElementType::kFp32;
        return true;
      });
    if (tensor.role == Role::kParameter || tensor.role == Role::kState)
      all.emplace_back([id](Graph &g) {
        g.tensors[id].role = Role::kInput;
        g.tensors[id].initial.clear();
        g.tensors[id].frozen = false;
        return true;
      });
  }
}

} // namespace

std::vector<Reduction> reductions(const Graph &graph) {
  std::vector<Reduction> all;
  add_losses(graph, all);
  add_ops(graph, all);
  add_marks(graph, all);
  add_dimensions(graph, all);
  add_attributes(graph, all);
  add_leaves(graph, all);
  return all;
}

std::optional<Graph> reduced(Graph graph, const Reduction &reduce) {
  const std::string before = graph::print_graph(graph);
  try {
    if (!reduce(graph)) return std::nullopt;
    drop_unneeded(graph);
    const std::string text = graph::print_graph(graph);
    if (text == before) return std::nullopt;
    Graph smaller = graph::read_graph(text, "smaller.graph", graph::operators());
    for (Op &op : smaller.ops)
      op.where.clear(); // messages stay as they were
    for (Tensor &tensor : smaller.tensors)
      tensor.where.clear();
    return smaller;
  } catch (const graph::GraphError &) {
    return std::nullopt;
  }
}

} // namespace gradweave::graphs
