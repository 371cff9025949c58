// Writes a whole step of a network, for compare.py and quantiles.py: the forward graph, what it is given, and the
// gradients of all parameters, in fp64 without rounding, in fp64 rounded at the edges (N21), and under the contract.
//
//   step_dump DIRECTORY NETWORK [VARIABLE=VALUE]...
//
// NETWORK: a graph's file, whose variables may be given, or a name of networks.hpp. DIRECTORY gets manifest.json and a
// file of raw little-endian values a tensor.
#include "graph/build/builder.hpp"
#include "graph/golden/execution.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/training.hpp"
#include "graph/text/read.hpp"
#include "tests/torch/networks.hpp"
#include "tests/torch/values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>

namespace gradweave::graph {
namespace {

using Json = nlohmann::ordered_json;

class Dump {
public:
  Dump(Graph graph, std::filesystem::path directory) : graph_(std::move(graph)), directory_(std::move(directory)) {
    std::filesystem::create_directories(directory_);
  }

  void run(std::uint64_t seed) {
    TrainingOptions training;
    training.extent = Extent::kGradients;
    const TrainingGraph step = training_graph(graph_, operators(), training);
    const std::size_t forward_ops = graph_.ops.size();
    const std::vector<ParameterGradient> gradients = add_gradients(graph_, operators());
    verify(graph_);
    std::vector<bool> wanted(graph_.tensors.size());
    for (const ParameterGradient &g : gradients)
      wanted[g.gradient] = true;
    for (TensorId id = 0; id < graph_.tensors.size(); ++id)
      if (!graph_.tensors[id].computed() || is_mask(id)) wanted[id] = true;
    ExecutionOptions options;
    options.round_edges = false;
    options.keep = [&wanted](TensorId id) { return wanted[id]; };
    Execution<Reference> run(graph_, options);
    set_values(run, graph_, seed);
    run.run();
    manifest_ = {{"network", graph_.name}, {"seed", seed}};
    manifest_["loss"] = graph_.tensors[graph_.loss].name;
    manifest_["loss_value"] = run.get(graph_.loss).real[0];
    given(run);
    for (std::size_t id = 0; id < forward_ops; ++id)
      manifest_["ops"].push_back(forward_op(run, graph_.ops[id]));
    for (const ParameterGradient &g : gradients) {
      Json entry = tensor(run, g.gradient);
      entry["of"] = graph_.tensors[g.parameter].name;
      manifest_["gradients"].push_back(entry);
    }
    rounded<Reference>(step, seed, "edges");
    rounded<Contract>(step, seed, "contract");
    std::ofstream out(directory_ / "manifest.json");
    out << manifest_.dump(1) << '\n';
    if (!out.flush()) throw std::runtime_error("cannot write " + (directory_ / "manifest.json").string());
  }

private:
  /// The same step with rounding at the edges: a file more for each gradient.
  template <class A> void rounded(const TrainingGraph &step, std::uint64_t seed, const std::string &key) {
    Execution<A> run(step.graph);
    set_values(run, step.graph, seed);
    run.run();
    for (Json &entry : manifest_["gradients"])
      for (const ParameterGradient &g : step.gradients)
        if (step.graph.tensors[g.parameter].name == entry["of"]) {
          const auto &real = run.get(g.gradient).real;
          const std::vector<double> values(real.begin(), real.end());
          entry[key] = fmt::format("{}.{}.bin", key, g.gradient);
          write(entry[key], values.data(), values.size() * sizeof(double));
        }
  }

  /// Which elements are random zeros only the result of the op tells.
  bool is_mask(TensorId id) const {
    const OpId op = graph_.tensors[id].producer;
    return op != kNone && graph_.ops[op].type->name == "Dropout";
  }

  void given(const Execution<Reference> &run) {
    for (TensorId id = 0; id < graph_.tensors.size(); ++id)
      if (!graph_.tensors[id].computed()) manifest_["given"].push_back(tensor(run, id));
  }

  Json tensor(const Execution<Reference> &run, TensorId id) {
    const Tensor &tensor = graph_.tensors[id];
    const std::string file = fmt::format("{}.bin", id);
    const Buffer<Reference> &values = run.get(id);
    if (is_real(tensor.type))
      write(file, values.real.data(), values.real.size() * sizeof(double));
    else
      write(file, values.index.data(), values.index.size() * sizeof(std::int32_t));
    return {{"name", tensor.name},
            {"role", tensor.role == Role::kParameter && !tensor.frozen ? "parameter" : "given"},
            {"type", is_real(tensor.type) ? "fp64" : "int32"},
            {"shape", tensor.shape.dims()},
            {"file", file}};
  }

  void write(const std::string &file, const void *data, std::size_t bytes) const {
    std::ofstream out(directory_ / file, std::ios::binary);
    out.write(static_cast<const char *>(data), static_cast<std::streamsize>(bytes));
    if (!out.flush()) throw std::runtime_error("cannot write " + (directory_ / file).string());
  }

  Json forward_op(const Execution<Reference> &run, const Op &op) {
    Json entry{{"operator", op.type->name}};
    const auto names = [this](const std::vector<TensorId> &ids) {
      Json all = Json::array();
      for (const TensorId id : ids)
        all.push_back(id == kNone ? Json() : Json(graph_.tensors[id].name));
      return all;
    };
    entry["inputs"] = names(op.inputs);
    entry["outputs"] = names(op.outputs);
    entry["attributes"] = Json::object();
    for (const auto &[name, value] : op.attributes.all())
      std::visit([&entry, n = name](const auto &v) { entry["attributes"][n] = v; }, value);
    if (op.type->name == "Dropout") entry["mask"] = tensor(run, op.outputs[0]);
    return entry;
  }

  Graph graph_;
  std::filesystem::path directory_;
  Json manifest_;
};

Graph network(const std::string &name, const Variables &variables) {
  const std::filesystem::path file(name);
  if (file.extension() != ".graph") return built_network(name, operators());
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + name);
  return read_graph(std::string(std::istreambuf_iterator<char>(in), {}), name, operators(), variables);
}

Variables variables_of(int argc, char **argv) {
  Variables variables;
  for (int i = 3; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw std::runtime_error("'" + text + "' is no VARIABLE=VALUE");
    variables[text.substr(0, equals)] = std::stoll(text.substr(equals + 1));
  }
  return variables;
}

} // namespace
} // namespace gradweave::graph

int main(int argc, char **argv) {
  using namespace gradweave::graph;
  if (argc < 3) {
    std::cerr << "usage: step_dump DIRECTORY NETWORK [VARIABLE=VALUE]...\n";
    return 2;
  }
  try {
    constexpr std::uint64_t kSeed = 1;
    Dump(network(argv[2], variables_of(argc, argv)), argv[1]).run(kSeed);
  } catch (const std::exception &error) {
    std::cerr << "step_dump: " << error.what() << '\n';
    return 1;
  }
}
