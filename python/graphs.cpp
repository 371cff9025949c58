#include "python/graphs.hpp"

#include "graph/operators/table.hpp"
#include "graph/text/print.hpp"
#include "python/bind.hpp"
#include "python/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::python {
namespace {

using GraphPointer = std::shared_ptr<GraphInPython>;

graph::ElementType type_of(const std::string &name) {
  for (const graph::ElementType type :
       {graph::ElementType::kFp32, graph::ElementType::kBf16, graph::ElementType::kInt32})
    if (to_string(type) == name) return type;
  throw std::invalid_argument(fmt::format("type = '{}' is none of fp32, bf16, int32", name));
}

graph::Shape shape_of(const std::vector<std::uint32_t> &dims) { return graph::Shape(dims); }

/// The attribute as its operator takes it: whole numbers stand for real ones, too.
graph::Attribute attribute_of(const graph::Operator *type, const std::string &name, py::handle value) {
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<py::sequence>(value)) return value.cast<std::vector<std::int64_t>>();
  if (PyFloat_Check(value.ptr()) != 0) return value.cast<double>();
  if (PyIndex_Check(value.ptr()) == 0)
    throw std::invalid_argument(fmt::format("{} = {} is no attribute; use a number, a text or a list of whole numbers",
                                            name, py::repr(value).cast<std::string>()));
  if (type != nullptr)
    for (const graph::AttributeSpec &spec : type->attributes)
      if (spec.name == name && spec.kind == graph::AttributeKind::kReal) return value.cast<double>();
  return value.cast<std::int64_t>();
}

std::vector<TensorInPython> add_op(const GraphPointer &self, const std::string &where, const std::string &op,
                                   const py::sequence &inputs, const std::string &name, std::size_t outputs,
                                   const py::dict &attributes) {
  std::vector<graph::TensorId> ids;
  for (const py::handle input : inputs) {
    if (input.is_none()) {
      ids.push_back(graph::kNone);
      continue;
    }
    if (!py::isinstance<TensorInPython>(input))
      throw std::invalid_argument(
          fmt::format("op(): input {} is {}, no tensor of a graph", ids.size(), py::repr(input).cast<std::string>()));
    const auto &tensor = input.cast<const TensorInPython &>();
    if (tensor.graph != self)
      throw std::invalid_argument(fmt::format("op(): tensor '{}' is of another graph", tensor.tensor().name));
    ids.push_back(tensor.id);
  }
  graph::Attributes values;
  for (const auto &[key, value] : attributes)
    if (!value.is_none()) {
      const auto text = key.cast<std::string>();
      values.set(text, attribute_of(graph::operators().find(op), text, value));
    }
  std::vector<TensorInPython> results;
  for (const graph::TensorId id : self->at(where).add_all(op, std::move(ids), std::move(values), name, outputs))
    if (id != graph::kNone) results.push_back({self, id});
  return results;
}

void add_result(const GraphPointer &self, const TensorInPython &tensor, bool loss) {
  if (tensor.graph != self) throw std::invalid_argument("the tensor is of another graph");
  graph::Graph &graph = self->graph();
  if (loss)
    graph.loss = tensor.id;
  else if (std::find(graph.results.begin(), graph.results.end(), tensor.id) == graph.results.end())
    graph.results.push_back(tensor.id);
}

std::vector<TensorInPython> tensors_of(const GraphPointer &self) {
  std::vector<TensorInPython> all;
  for (graph::TensorId id = 0; id < self->graph().tensors.size(); ++id)
    all.push_back({self, id});
  return all;
}

py::dict operators_of_table() {
  py::dict all;
  for (const graph::Operator &op : graph::operators().all()) {
    py::dict attributes;
    for (const graph::AttributeSpec &spec : op.attributes)
      attributes[py::str(std::string(spec.name))] = std::string(spec.summary);
    std::vector<std::string> inputs;
    for (const graph::InputSpec &input : op.inputs)
      inputs.emplace_back(input.name);
    all[py::str(std::string(op.name))] = py::dict(py::arg("summary") = std::string(op.summary),
                                                  py::arg("inputs") = inputs, py::arg("attributes") = attributes);
  }
  return all;
}

} // namespace

GraphInPython::GraphInPython(std::string name) {
  graph_.name = std::move(name);
  builder_ = std::make_unique<graph::Builder>(graph_, graph::operators());
}

GraphInPython::GraphInPython(graph::Graph graph) : graph_(std::move(graph)) {
  builder_ = std::make_unique<graph::Builder>(graph_, graph::operators());
}

std::shared_ptr<const graph::Graph> GraphInPython::copy() const {
  graph::verify(graph_);
  return std::make_shared<const graph::Graph>(graph_);
}

void bind_graphs(py::module_ &module) {
  py::class_<TensorInPython>(module, "Tensor",
                             "A tensor of a Graph: its name, shape (elements, outermost first), type and role.")
      .def_property_readonly("name", [](const TensorInPython &t) { return t.tensor().name; })
      .def_property_readonly("shape",
                             [](const TensorInPython &t) { return py::tuple(py::cast(t.tensor().shape.dims())); })
      .def_property_readonly("type", [](const TensorInPython &t) { return std::string(to_string(t.tensor().type)); })
      .def_property_readonly("role", [](const TensorInPython &t) { return std::string(to_string(t.tensor().role)); });
  py::class_<GraphInPython, GraphPointer>(module, "Graph")
      .def(py::init<std::string>())
      .def_property_readonly("name", [](GraphInPython &g) { return g.graph().name; })
      .def("input",
           [](const GraphPointer &g, const std::string &where, std::string name,
              const std::vector<std::uint32_t> &shape, const std::string &type) {
             return TensorInPython{g, g->at(where).input(std::move(name), type_of(type), shape_of(shape))};
           })
      .def(
          "parameter",
          [](const GraphPointer &g, const std::string &where, std::string name, const std::vector<std::uint32_t> &shape,
             std::string init, bool frozen) {
            return TensorInPython{g, g->at(where).parameter(std::move(name), shape_of(shape), std::move(init), frozen)};
          })
      .def("state",
           [](const GraphPointer &g, const std::string &where, std::string name,
              const std::vector<std::uint32_t> &shape, std::string init) {
             return TensorInPython{g, g->at(where).state(std::move(name), shape_of(shape), std::move(init))};
           })
      .def("update",
           [](const GraphPointer &g, const std::string &where, const TensorInPython &tensor,
              const TensorInPython &next) {
             if (tensor.graph != g || next.graph != g) throw std::invalid_argument("the tensor is of another graph");
             g->at(where).update(tensor.id, next.id);
           })
      .def("constant",
           [](const GraphPointer &g, const std::string &where, std::string name,
              const std::vector<std::uint32_t> &shape, std::vector<double> values, const std::string &type) {
             return TensorInPython{
                 g, g->at(where).constant(std::move(name), shape_of(shape), std::move(values), type_of(type))};
           })
      .def("op", &add_op)
      .def("result", [](const GraphPointer &g, const TensorInPython &t) { add_result(g, t, false); })
      .def("loss", [](const GraphPointer &g, const TensorInPython &t) { add_result(g, t, true); })
      .def("tensors", &tensors_of)
      .def("text", [](const GraphInPython &g) { return graph::print_graph(*g.copy()); });
  module.def("operators", &operators_of_table);
}

} // namespace gradweave::python
