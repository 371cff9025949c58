// Nodes of ONNX, one at a time, in fp64, against what their definitions give (tests/graph/onnx/make_operators.py).
#include "graph/golden/execution.hpp"
#include "graph/golden/initialise.hpp"
#include "graph/ir/error.hpp"
#include "graph/onnx/import.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/gradient.hpp"
#include "graph/passes/loss.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>

namespace gradweave::graph::onnx {
namespace {

using Json = nlohmann::json;

constexpr double kBound = 1e-6; ///< of values that the file and the model have as fp32

const Json &all_nodes() {
  static const Json nodes = Json::parse(std::ifstream("tests/graph/onnx/operators.json"));
  return nodes;
}

double value_of(const Json &value) {
  if (value.is_number()) return value.get<double>();
  const auto text = value.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return text == "inf" ? HUGE_VAL : -HUGE_VAL;
}

/// A tensor of the file: [type, dims, values], behind its name or alone.
struct Given {
  DataType type;
  std::vector<std::int64_t> dims;
  std::vector<double> values;

  Given(const Json &tensor, std::size_t at)
      : type(tensor[at] == "float"   ? DataType::kFloat
             : tensor[at] == "int64" ? DataType::kInt64
                                     : DataType::kBool),
        dims(tensor[at + 1].get<std::vector<std::int64_t>>()) {
    for (const Json &value : tensor[at + 2])
      values.push_back(value_of(value));
  }
};

template <typename T> void append(std::string &bytes, T value) {
  char text[sizeof(T)];
  std::memcpy(text, &value, sizeof(T));
  bytes.append(text, sizeof(T));
}

Blob blob_of(const std::string &name, const Given &given) {
  Blob blob{name, given.type, given.dims, {}};
  for (const double value : given.values)
    if (given.type == DataType::kFloat)
      append(blob.bytes, static_cast<float>(value));
    else
      append(blob.bytes, static_cast<std::int64_t>(value));
  return blob;
}

ValueInfo info_of(const std::string &name, const Given &given) {
  ValueInfo info{name, given.type, std::vector<Dimension>{}};
  for (const std::int64_t dim : given.dims)
    info.dims->push_back({dim, {}});
  return info;
}

AttributeValue attribute_of(const Json &value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array() && !value.empty() && value[0].is_string()) return value.get<std::vector<std::string>>();
  if (value.is_array()) return value.get<std::vector<std::int64_t>>();
  if (value.is_number_float()) return value.get<double>();
  return value.get<std::int64_t>();
}

/// A model of the node, and the values of its inputs by name.
struct NodeModel {
  Model model;
  std::map<std::string, Given> inputs;

  explicit NodeModel(const Json &of) {
    Node node;
    node.type = of["op"];
    for (const auto &[name, value] : of["attributes"].items())
      node.attributes[name] = attribute_of(value);
    for (const Json &input : of["inputs"]) {
      node.inputs.push_back(input.is_null() ? "" : input[0].get<std::string>());
      if (input.is_null()) continue;
      const Given given(input, 1);
      if (node.inputs.back().rfind("known", 0) == 0) {
        model.initializers.push_back(blob_of(node.inputs.back(), given));
        continue;
      }
      model.inputs.push_back(info_of(node.inputs.back(), given));
      inputs.emplace(node.inputs.back(), given);
    }
    for (std::size_t o = 0; o < of["outputs"].size(); ++o) {
      const bool wanted = !of["outputs"][o].is_null();
      node.outputs.push_back(wanted ? fmt::format("y{}", o) : "");
      if (wanted) model.outputs.push_back(info_of(node.outputs.back(), Given(of["outputs"][o], 0)));
    }
    model.opsets[""] = of["opset"];
    model.nodes = {node};
  }
};

void set_all(Execution<Reference> &run, const Graph &graph, const std::map<std::string, Given> &inputs) {
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const Tensor &tensor = graph.tensors[id];
    if (tensor.role == Role::kParameter) {
      const std::vector<float> values = initial_values(tensor, 1);
      run.set(id, {values.begin(), values.end()});
    }
    if (tensor.role != Role::kInput) continue;
    std::vector<double> values = inputs.at(tensor.name).values;
    if (tensor.origin) values = from_file(*tensor.origin, values);
    if (is_real(tensor.type))
      run.set(id, values);
    else
      run.set_index(id, {values.begin(), values.end()});
  }
}

bool is_near(double got, double wanted) {
  if (std::isnan(wanted) || std::isinf(wanted)) return std::isnan(wanted) ? std::isnan(got) : got == wanted;
  return std::abs(got - wanted) <= kBound * std::max(1.0, std::abs(wanted));
}

class OnnxOperators : public testing::TestWithParam<std::size_t> {};

TEST_P(OnnxOperators, GiveWhatTheirDefinitionSays) {
  const Json &of = all_nodes()[GetParam()];
  SCOPED_TRACE(fmt::format("{} {}", of["op"].get<std::string>(), of["attributes"].dump()));
  NodeModel node(of);
  const Graph graph = import_model(node.model, "node.onnx", operators(), {});
  ExecutionOptions options;
  options.round_edges = false;
  Execution<Reference> run(graph, options);
  set_all(run, graph, node.inputs);
  run.run();
  ASSERT_EQ(graph.results.size(), node.model.outputs.size());
  std::size_t r = 0;
  for (const Json &output : of["outputs"]) {
    if (output.is_null()) continue;
    const Given wanted(output, 0);
    const TensorId id = graph.results[r];
    const Tensor &tensor = graph.tensors[id];
    EXPECT_EQ(tensor.name, node.model.outputs[r++].name);
    ASSERT_EQ(std::vector<std::int64_t>(tensor.shape.dims().begin(), tensor.shape.dims().end()), wanted.dims);
    std::vector<double> got = run.get(id).real;
    if (!is_real(tensor.type)) got.assign(run.get(id).index.begin(), run.get(id).index.end());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_TRUE(is_near(got[i], wanted.values[i]))
          << "element " << i << ": " << got[i] << ", not " << wanted.values[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, OnnxOperators, testing::Range(std::size_t{0}, all_nodes().size()),
                         [](const testing::TestParamInfo<std::size_t> &node) {
                           return fmt::format("{}_{}", all_nodes()[node.param]["op"].get<std::string>(), node.param);
                         });

/// A row of zeros beside one of others: gradients of the mean of (y - 1)^2 for x.
std::vector<double> gradients_of(const std::string &op, const std::string &attributes, const Given &y) {
  const std::string dims = fmt::format("{}", fmt::join(y.dims, ", "));
  NodeModel node(Json::parse(fmt::format(
      R"({{"op": "{}", "opset": 13, "attributes": {}, "outputs": [["float", [{}], []]],
           "inputs": [["x", "float", [2, 1, 1, 2], [0, 0, 3, 4]]]}})",
      op, attributes, dims)));
  Graph graph = import_model(node.model, "node.onnx", operators(), {});
  add_loss(graph, operators(), LossKind::kMeanSquare);
  const TensorId x = graph.find("x");
  const TensorId gradient = add_gradients(graph, operators(), {x}).at(0).gradient;
  graph.results.push_back(gradient);
  node.inputs.emplace("targets", y);
  ExecutionOptions options;
  options.round_edges = false;
  Execution<Reference> run(graph, options);
  set_all(run, graph, node.inputs);
  run.run();
  return run.get(gradient).real;
}

TEST(OnnxNorms, PassNothingOnAtZero) {
  const Given norms(Json::parse(R"([["float", [2, 1, 1, 1], [1, 1]]])")[0], 0);
  for (const auto &[op, attributes] : {std::pair{"ReduceL2", R"({"axes": [3]})"}, std::pair{"GlobalLpPool", "{}"},
                                       std::pair{"LpPool", R"({"kernel_shape": [1, 2]})"}}) {
    const std::vector<double> got = gradients_of(op, attributes, norms), wanted{0, 0, 2.4, 3.2};
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_DOUBLE_EQ(got.at(i), wanted[i]) << op;
  }
}

/// What is wrong with a node whose inputs are these.
std::string refusal(const std::string &text) {
  try {
    import_model(NodeModel(Json::parse(text)).model, "node.onnx", operators(), {});
  } catch (const GraphError &error) {
    return error.what();
  }
  return {};
}

TEST(OnnxOperatorErrors, NameNodeAndRemedy) {
  EXPECT_EQ(refusal(R"({"op": "TopK", "opset": 13, "attributes": {}, "outputs": [["float", [200], []]],
                        "inputs": [["x", "float", [200], []], ["known", "int64", [1], [129]]]})"),
            "node.onnx: node 'y0' (TopK): k = 129 of dimension 0 of [200]: 1 to 128 are taken");
  const auto rnn = [](const std::string &names) {
    return refusal(fmt::format(R"({{"op": "RNN", "opset": 13, "attributes": {{"activations": {}}},
                                    "inputs": [["x", "float", [1, 1, 2], []], ["known1", "float", [1, 1, 2], [1, 1]],
                                               ["known2", "float", [1, 1, 1], [1]]],
                                    "outputs": [null, ["float", [1, 1, 1], []]]}})",
                               names));
  };
  EXPECT_EQ(rnn(R"(["Elu"])"), "node.onnx: node 'y1' (RNN): activation 'Elu' is not taken; Tanh, Relu and Sigmoid are");
  EXPECT_EQ(rnn(R"(["Relu", "Relu"])"),
            "node.onnx: node 'y1' (RNN): attribute 'activations' has 2 names; it must have 1");
  EXPECT_EQ(refusal(R"({"op": "GatherND", "opset": 13, "attributes": {}, "outputs": [["float", [1], []]],
                        "inputs": [["x", "float", [3, 4], []], ["known", "int64", [1, 2], [2, 4]]]})"),
            "node.onnx: node 'y0' (GatherND): index 4 is none of the 4 of dimension 1");
  EXPECT_EQ(
      refusal(R"({"op": "ScatterND", "opset": 18, "attributes": {"reduction": "mean"}, "outputs": [["float", [3], []]],
                        "inputs": [["x", "float", [3], []], ["known", "int64", [1, 1], [2]], ["u", "float", [1], []]]})"),
      "node.onnx: node 'y0' (ScatterND): attribute 'reduction' = 'mean' is not known; none, add, mul, max and min "
      "are");
  EXPECT_EQ(
      refusal(R"({"op": "Einsum", "opset": 13, "attributes": {"equation": "ij,jk->iz"}, "outputs": [["float", [1], []]],
                        "inputs": [["x", "float", [3, 4], []], ["y", "float", [4, 5], []]]})"),
      "node.onnx: node 'y0' (Einsum): attribute 'equation' = 'ij,jk->iz' has a result of 'z', which no input has, "
      "or twice");
  EXPECT_EQ(refusal(R"({"op": "Pad", "opset": 13, "attributes": {"mode": "mirror"}, "outputs": [["float", [1], []]],
                        "inputs": [["x", "float", [3], []], ["known", "int64", [2], [1, 1]]]})"),
            "node.onnx: node 'y0' (Pad): attribute 'mode' = 'mirror'; constant, edge, reflect and wrap are computed");
}

} // namespace
} // namespace gradweave::graph::onnx
