// Networks and NPUs: their names, and how they are read.
#include "python/bind.hpp"
#include "python/graphs.hpp"
#include "python/long_call.hpp"
#include "python/sources.hpp"

#include "app/request/settings.hpp"
#include "compiler/request/options.hpp"
#include "graph/frontend/load_network.hpp"
#include "runtime/run/lookup.hpp"

#include <nlohmann/json.hpp>
#include <pybind11/stl.h>

#include <algorithm>

namespace gradweave::python {
namespace {

using Json = nlohmann::ordered_json;

Json layer_json(const compiler::Layer &layer) {
  Json json{{"name", layer.name}, {"index", layer.index},   {"m", layer.m},  {"k", layer.k},
            {"n", layer.n},       {"groups", layer.groups}, {"dx", layer.dx}};
  json["input"] = layer.input.empty() ? Json() : Json(layer.input);
  json["weights"] = layer.weights.empty() ? Json() : Json(layer.weights);
  if (const auto &conv = layer.conv) json["pointwise"] = conv->is_pointwise();
  return json;
}

py::object layers_of(const Network &network) {
  Json layers = Json::array();
  for (const compiler::Layer &layer : network.network->layers)
    layers.push_back(layer_json(layer));
  return to_python(layers);
}

/// The fields of an NPU's file.
Json tables_of(const Machine &npu) {
  Json memory{{"size_bytes", npu.memory.size_bytes}, {"bandwidth_gb_s", npu.memory.bandwidth_gb_s}};
  for (const MemoryKey &key : memory_keys())
    memory[std::string(key.name)] = npu.memory.*key.field;
  memory["access_bytes"] = npu.memory.access_bytes;
  Json energy;
  for (const EnergyKey &key : energy_keys())
    if (key.field != nullptr)
      energy[std::string(key.name)] = npu.energy.*key.field;
    else if (const auto &value = npu.energy.*key.optional_field)
      energy[std::string(key.name)] = *value;
  return {{"npu",
           {{"name", npu.name},
            {"rows", npu.rows},
            {"cols", npu.cols},
            {"cores", npu.cores},
            {"spm_bytes", npu.spm_bytes},
            {"spm_banks", npu.spm_banks},
            {"bus_bytes", npu.bus_bytes},
            {"port_bytes", npu.port_bytes},
            {"clock_ghz", npu.clock_ghz},
            {"queue_depth", npu.queue_depth},
            {"semaphores", npu.semaphores},
            {"outstanding", npu.outstanding}}},
          {"memory", std::move(memory)},
          {"energy", std::move(energy)}};
}

Network load_network(py::handle model, py::dict given) {
  const ModelSource source(model);
  Options options(std::move(given));
  cli::WorkArguments arguments;
  take_files(options, arguments);
  options.done();
  Network network{source.name(), nullptr};
  run_long([&](const SignalGuard &) {
    network.network = std::make_shared<const compiler::Network>(source.read(arguments));
  });
  return network;
}

std::shared_ptr<GraphInPython> load_graph(py::handle model, py::dict given) {
  const std::string name = text_of("model", model);
  Options options(std::move(given));
  cli::WorkArguments arguments;
  take_files(options, arguments);
  options.done();
  std::shared_ptr<GraphInPython> graph;
  run_long([&](const SignalGuard &) {
    graph = std::make_shared<GraphInPython>(compiler::load_graph_and_weights(
        runtime::find_model(name), cli::parse_settings(arguments.set, arguments.batch, arguments.until).network));
  });
  return graph;
}

Npu load_npu(py::handle npu, py::dict given) {
  Options options(std::move(given));
  std::vector<std::string> set;
  options.take_settings("set", set);
  options.done();
  NpuSource source(npu);
  Machine machine = source.read(set);
  return {std::move(source), std::move(machine)};
}

std::vector<std::string> compile_options() {
  std::vector<std::string> names;
  for (const compiler::OptionForm &form : compiler::option_forms()) {
    std::string &name = names.emplace_back(form.name);
    std::replace(name.begin(), name.end(), '-', '_');
  }
  return names;
}

} // namespace

void bind_files(py::module_ &module) {
  py::class_<Network>(module, "Network",
                      "Layers of a network that load_network() has read; goes wherever calls take a model.")
      .def_property_readonly("name", [](const Network &n) { return n.network->name; })
      .def_property_readonly("description", [](const Network &n) { return n.network->description; })
      .def_property_readonly("parameters", [](const Network &n) { return count_parameters(*n.network); })
      .def_property_readonly("layers", &layers_of)
      .def("__len__", [](const Network &n) { return n.network->layers.size(); })
      .def("__repr__", [](const Network &n) {
        return "<gradweave.Network '" + n.network->name + "', " + std::to_string(n.network->layers.size()) + " layers>";
      });
  py::class_<Npu>(module, "Npu", "An NPU and its memory that load_npu() has read; goes wherever calls take an NPU.")
      .def_property_readonly("name", [](const Npu &n) { return n.machine.name; })
      .def("to_dict", [](const Npu &n) { return to_python(tables_of(n.machine)); })
      .def("__repr__", [](const Npu &n) { return "<gradweave.Npu '" + n.machine.name + "'>"; });
  module.def("load_network", &load_network);
  module.def("load_graph", &load_graph);
  module.def("load_npu", &load_npu);
  module.def("models", &runtime::model_names);
  module.def("npus", &runtime::npu_names);
  module.def("compile_options", &compile_options);
}

} // namespace gradweave::python
