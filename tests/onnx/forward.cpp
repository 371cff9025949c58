// Runs an ONNX file's network in fp64, for compare.py.
//
//   onnx_forward FILE DIRECTORY [BATCH [NAME=SIZE]...]
//
// Inputs, in the file's order, are input0.bin, input1.bin ... in DIRECTORY: doubles, row-major, as the file has its
// dimensions. DIRECTORY gets output0.bin ... and result.json: outputs, shapes of all values, parameters, layers. Of a
// .graph it gets parameters and layers alone.
#include "graph/frontend/load_network.hpp"
#include "graph/golden/execution.hpp"
#include "graph/golden/initialise.hpp"
#include "graph/layers.hpp"
#include "graph/onnx/import.hpp"
#include "graph/operators/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>

namespace gradweave::graph {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> read_values(const std::filesystem::path &file, std::size_t count) {
  std::vector<double> values(count);
  std::ifstream in(file, std::ios::binary);
  if (!in.read(reinterpret_cast<char *>(values.data()), static_cast<std::streamsize>(count * sizeof(double))))
    throw std::runtime_error("cannot read " + file.string());
  return values;
}

/// Inputs that follow from others, of whole numbers.
void set_computed(Execution<Reference> &run, const Graph &graph, const std::map<std::string, InputValues> &fed) {
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const Tensor &tensor = graph.tensors[id];
    if (!tensor.function) continue;
    std::vector<const InputValues *> sources;
    for (const std::string &name : tensor.function->sources())
      sources.push_back(&fed.at(name));
    const InputValues values = tensor.function->compute(sources);
    if (is_real(tensor.type))
      run.set(id, {values.real.begin(), values.real.end()});
    else
      run.set_index(id, {values.whole.begin(), values.whole.end()});
  }
}

void set_inputs(Execution<Reference> &run, const Graph &graph, const std::filesystem::path &directory) {
  std::size_t number = 0;
  std::map<std::string, InputValues> whole;
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const Tensor &tensor = graph.tensors[id];
    if (tensor.role == Role::kParameter || tensor.role == Role::kState) {
      const std::vector<float> values = initial_values(tensor, 1);
      run.set(id, {values.begin(), values.end()});
    }
    if (tensor.role != Role::kInput || tensor.function) continue;
    std::vector<double> values = read_values(directory / fmt::format("input{}.bin", number++), tensor.shape.elements());
    if (tensor.origin) values = from_file(*tensor.origin, values);
    if (is_real(tensor.type)) {
      run.set(id, std::move(values));
    } else {
      run.set_index(id, {values.begin(), values.end()});
      whole[tensor.name].whole.assign(values.begin(), values.end());
    }
  }
  set_computed(run, graph, whole);
}

/// None of a graph without weights.
Json layers_of(const Graph &graph, const std::filesystem::path &file) {
  Json layers = Json::array();
  if (count_parameters(graph) == 0) return layers;
  for (const compiler::Layer &layer : network_of(graph, file).layers)
    layers.push_back({layer.name, layer.m, layer.k, layer.n, layer.groups});
  return layers;
}

void write(const Json &result, const std::filesystem::path &directory) {
  std::ofstream out(directory / "result.json");
  out << result.dump(1) << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write result.json");
}

void describe(const std::filesystem::path &file, const std::filesystem::path &directory) {
  const Graph graph = compiler::load_graph_and_weights(file);
  write({{"parameters", count_parameters(graph)}, {"layers", layers_of(graph, file)}}, directory);
}

void forward(const std::filesystem::path &file, const std::filesystem::path &directory,
             const onnx::ImportOptions &import) {
  onnx::ShapeReport shapes;
  const Graph graph = onnx::read_onnx(file, operators(), import, &shapes);
  ExecutionOptions options;
  options.round_edges = false;
  Execution<Reference> run(graph, options);
  set_inputs(run, graph, directory);
  run.run();
  Json result;
  for (const TensorId id : graph.results) {
    const std::string name = fmt::format("output{}.bin", result["outputs"].size());
    std::vector<double> values = run.get(id).real;
    if (!is_real(graph.tensors[id].type)) values.assign(run.get(id).index.begin(), run.get(id).index.end());
    std::ofstream out(directory / name, std::ios::binary);
    out.write(reinterpret_cast<const char *>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(double)));
    if (!out.flush()) throw std::runtime_error("cannot write " + name);
    result["outputs"].push_back(
        {{"name", graph.tensors[id].name}, {"dims", graph.tensors[id].shape.dims()}, {"file", name}});
  }
  result["shapes"] = shapes;
  result["parameters"] = count_parameters(graph);
  result["transposes"] =
      std::count_if(graph.ops.begin(), graph.ops.end(), [](const Op &op) { return op.type->name == "Transpose"; });
  result["layers"] = layers_of(graph, file);
  write(result, directory);
}

} // namespace
} // namespace gradweave::graph

int main(int argc, char **argv) {
  try {
    if (argc < 3) throw std::runtime_error("usage: onnx_forward FILE DIRECTORY [BATCH [NAME=SIZE]...]");
    gradweave::graph::onnx::ImportOptions options;
    if (argc > 3) options.batch = std::stoul(argv[3]);
    for (int i = 4; i < argc; ++i) {
      const std::string dim = argv[i];
      options.dims[dim.substr(0, dim.find('='))] = std::stol(dim.substr(dim.find('=') + 1));
    }
    if (std::filesystem::path(argv[1]).extension() == ".graph")
      gradweave::graph::describe(argv[1], argv[2]);
    else
      gradweave::graph::forward(argv[1], argv[2], options);
    return 0;
  } catch (const std::exception &error) {
    std::cerr << "onnx_forward: " << error.what() << '\n';
    return 1;
  }
}
