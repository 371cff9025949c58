// Runs an ONNX file's network in fp64, for compare.py and random_networks.py.
//
//   onnx_forward FILE DIRECTORY [BATCH [NAME=SIZE]...] [--layers] [--loss KIND] [--learned NAME]...
//
// Inputs, in the file's order, are input0.bin, input1.bin ... in DIRECTORY: doubles, row-major, as the file has its
// dimensions. DIRECTORY gets output0.bin ... and result.json: outputs, shapes of all values, parameters, and where
// asked for, layers. Of a .graph it gets parameters and layers alone. With a loss of the first output (cross_entropy,
// mse, bce), what it is compared with is the last input, and DIRECTORY gets the parameters' gradients, as the file has
// them: gradient0.bin
// ...
#include "graph/frontend/load_network.hpp"
#include "graph/golden/execution.hpp"
#include "graph/golden/initialise.hpp"
#include "graph/ir/error.hpp"
#include "graph/layers.hpp"
#include "graph/onnx/import.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/loss.hpp"
#include "graph/passes/training.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

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

Json layers_of(const Graph &graph, const std::filesystem::path &file) {
  Json layers = Json::array();
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

Json write_values(const std::vector<double> &values, const std::string &name, const Shape &shape,
                  const std::filesystem::path &directory, const std::string &file) {
  std::ofstream out(directory / file, std::ios::binary);
  out.write(reinterpret_cast<const char *>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(double)));
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
  return {{"name", name}, {"dims", shape.dims()}, {"file", file}};
}

Execution<Reference> run_exactly(const Graph &graph, const std::filesystem::path &directory) {
  ExecutionOptions options;
  options.round_edges = false;
  Execution<Reference> run(graph, options);
  set_inputs(run, graph, directory);
  run.run();
  return run;
}

Json outputs_of(const Graph &graph, const std::filesystem::path &directory) {
  const Execution<Reference> run = run_exactly(graph, directory);
  Json outputs;
  for (const TensorId id : graph.results) {
    const Tensor &tensor = graph.tensors[id];
    std::vector<double> values = run.get(id).real;
    if (!is_real(tensor.type)) values.assign(run.get(id).index.begin(), run.get(id).index.end());
    outputs.push_back(
        write_values(values, tensor.name, tensor.shape, directory, fmt::format("output{}.bin", outputs.size())));
  }
  return outputs;
}

Json gradients_of(Graph graph, const std::string &loss, const std::filesystem::path &directory) {
  add_loss(graph, operators(), parse_loss(loss));
  TrainingOptions options;
  options.extent = Extent::kGradients;
  const TrainingGraph step = training_graph(graph, operators(), options);
  const Execution<Reference> run = run_exactly(step.graph, directory);
  Json gradients = Json::array();
  for (const ParameterGradient &g : step.gradients) {
    const Tensor &parameter = step.graph.tensors[g.parameter];
    const std::vector<double> &values = run.get(g.gradient).real;
    gradients.push_back(write_values(parameter.origin ? to_file(*parameter.origin, values) : values, parameter.name,
                                     parameter.origin ? parameter.origin->shape : parameter.shape, directory,
                                     fmt::format("gradient{}.bin", gradients.size())));
  }
  return gradients;
}

struct Options {
  onnx::ImportOptions import;
  bool layers = false;
  std::string loss; ///< empty: none
};

void forward(const std::filesystem::path &file, const std::filesystem::path &directory, const Options &options) {
  onnx::ShapeReport shapes;
  const Graph graph = onnx::read_onnx(file, operators(), options.import, &shapes);
  Json result;
  result["outputs"] = outputs_of(graph, directory);
  result["shapes"] = shapes;
  result["parameters"] = count_parameters(graph);
  result["transposes"] =
      std::count_if(graph.ops.begin(), graph.ops.end(), [](const Op &op) { return op.type->name == "Transpose"; });
  if (options.layers) result["layers"] = layers_of(graph, file);
  if (!options.loss.empty()) result["gradients"] = gradients_of(graph, options.loss, directory);
  write(result, directory);
}

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--layers")
      options.layers = true;
    else if (argument == "--loss" && i + 1 < argc)
      options.loss = argv[++i];
    else if (argument == "--learned" && i + 1 < argc)
      options.import.learned.emplace_back(argv[++i]);
    else if (const std::size_t equals = argument.find('='); equals != std::string::npos)
      options.import.dims[argument.substr(0, equals)] = std::stol(argument.substr(equals + 1));
    else
      options.import.batch = std::stoul(argument);
  }
  return options;
}

int fail(const std::exception &error, int status) {
  std::cerr << "onnx_forward: " << error.what() << '\n';
  return status;
}

} // namespace
} // namespace gradweave::graph

int main(int argc, char **argv) {
  using namespace gradweave::graph;
  try {
    if (argc < 3)
      throw std::runtime_error(
          "usage: onnx_forward FILE DIRECTORY [BATCH [NAME=SIZE]...] [--layers] [--loss KIND] [--learned NAME]...");
    const Options options = parse(argc, argv);
    if (std::filesystem::path(argv[1]).extension() == ".graph")
      describe(argv[1], argv[2]);
    else
      forward(argv[1], argv[2], options);
    return 0;
  } catch (const GraphDefect &error) {
    return fail(error, 2);
  } catch (const GraphError &error) {
    return fail(error, 1);
  } catch (const std::exception &error) {
    return fail(error, 2);
  }
}
