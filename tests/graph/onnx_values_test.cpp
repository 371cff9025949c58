// Small ONNX files, run in fp64, against what torch computes for them (tests/graph/onnx/make_files.py).
#include "graph/golden/execution.hpp"
#include "graph/golden/initialise.hpp"
#include "graph/ir/error.hpp"
#include "graph/onnx/import.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/gradient.hpp"
#include "graph/passes/loss.hpp"
#include "graph/passes/training.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace gradweave::graph::onnx {
namespace {

using Json = nlohmann::json;

struct Case {
  const char *name;
  std::uint32_t batch; ///< 0: the file has none
  std::size_t ops, transposes;
  std::uint64_t parameters;
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

std::string path_of(const std::string &name) { return "tests/graph/onnx/" + name; }

Graph graph_of(const Case &c) {
  ImportOptions options;
  if (c.batch != 0) options.batch = c.batch;
  return read_onnx(path_of(c.name) + ".onnx", operators(), options);
}

Json expected_of(const Case &c) {
  std::ifstream in(path_of(c.name) + ".json");
  return Json::parse(in);
}

std::vector<std::uint32_t> file_dims(const Tensor &tensor) {
  return tensor.origin ? tensor.origin->shape.dims() : tensor.shape.dims();
}

/// Inputs that follow from those of whole numbers.
void set_computed(Execution<Reference> &run, const Graph &graph, const Json &inputs) {
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const Tensor &tensor = graph.tensors[id];
    if (!tensor.function) continue;
    std::vector<InputValues> given;
    for (const std::string &name : tensor.function->sources())
      given.push_back({{}, inputs.at(name).at("values").get<std::vector<std::int32_t>>()});
    std::vector<const InputValues *> sources;
    for (const InputValues &values : given)
      sources.push_back(&values);
    const InputValues values = tensor.function->compute(sources);
    if (is_real(tensor.type))
      run.set(id, {values.real.begin(), values.real.end()});
    else
      run.set_index(id, {values.whole.begin(), values.whole.end()});
  }
}

void set_values(Execution<Reference> &run, const Graph &graph, const Json &inputs) {
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const Tensor &tensor = graph.tensors[id];
    if (tensor.role == Role::kParameter || tensor.role == Role::kState) {
      const std::vector<float> values = initial_values(tensor, 1);
      run.set(id, {values.begin(), values.end()});
    }
    if (tensor.role != Role::kInput || tensor.function) continue;
    const Json &given = inputs.at(tensor.name);
    ASSERT_EQ(file_dims(tensor), given.at("dims").get<std::vector<std::uint32_t>>()) << tensor.name;
    std::vector<double> values = given.at("values").get<std::vector<double>>();
    if (tensor.origin) values = from_file(*tensor.origin, values);
    if (is_real(tensor.type))
      run.set(id, values);
    else
      run.set_index(id, {values.begin(), values.end()});
  }
  set_computed(run, graph, inputs);
}

class OnnxValues : public testing::TestWithParam<Case> {};

TEST_P(OnnxValues, AreThoseOfTorch) {
  const Graph graph = graph_of(GetParam());
  const Json expected = expected_of(GetParam());
  ExecutionOptions options;
  options.round_edges = false;
  Execution<Reference> run(graph, options);
  set_values(run, graph, expected.at("inputs"));
  run.run();
  ASSERT_EQ(graph.results.size(), expected.at("outputs").size());
  for (const TensorId id : graph.results) {
    const Tensor &tensor = graph.tensors[id];
    const Json &wanted = expected.at("outputs").at(tensor.name);
    EXPECT_EQ(tensor.shape.dims(), wanted.at("dims").get<std::vector<std::uint32_t>>());
    const std::vector<double> values = wanted.at("values").get<std::vector<double>>();
    ASSERT_EQ(run.get(id).real.size(), values.size());
    // torch's constants are double, those of the file fp32; weights into which an exporter folded averages, too.
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(run.get(id).real[i], values[i], 2e-6) << tensor.name << " element " << i;
  }
}

TEST_P(OnnxValues, HasTheStructure) {
  const Graph graph = graph_of(GetParam());
  const auto of_type = [&](std::string_view type) {
    return static_cast<std::size_t>(
        std::count_if(graph.ops.begin(), graph.ops.end(), [type](const Op &op) { return op.type->name == type; }));
  };
  EXPECT_EQ(graph.ops.size(), GetParam().ops);
  EXPECT_EQ(of_type("Transpose"), GetParam().transposes);
  EXPECT_EQ(count_parameters(graph), GetParam().parameters);
}

TEST_P(OnnxValues, BecomesAStepOfTraining) {
  Graph graph = graph_of(GetParam());
  add_loss(graph, operators(), LossKind::kMeanSquare);
  if (GetParam().parameters == 0) {
    EXPECT_THROW(training_graph(graph, operators(), {}), GraphError);
    return;
  }
  const TrainingGraph step = training_graph(graph, operators(), {});
  std::size_t learned = 0;
  for (const Tensor &tensor : step.graph.tensors)
    learned += tensor.role == Role::kParameter ? 1 : 0;
  EXPECT_EQ(step.gradients.size(), learned);
}

INSTANTIATE_TEST_SUITE_P(
    Files, OnnxValues,
    testing::Values(Case{"images", 2, 20, 0, 346}, Case{"squeeze", 3, 28, 2, 89}, Case{"attention_12", 0, 34, 5, 311},
                    Case{"attention_17", 0, 34, 5, 311}, Case{"recurrent", 0, 210, 2, 193},
                    Case{"signal", 2, 27, 1, 63}, Case{"training", 3, 29, 2, 97}, Case{"external", 2, 1, 0, 12},
                    Case{"shapes", 3, 2, 0, 0}, Case{"unread", 0, 7, 1, 36}, Case{"whole", 0, 10, 0, 76},
                    Case{"truths", 0, 20, 0, 16}, Case{"light", 0, 12, 1, 62}, Case{"rotary", 0, 4, 0, 20},
                    Case{"old_forms", 0, 20, 1, 12}, Case{"quantised", 0, 5, 1, 30}, Case{"functions", 0, 4, 0, 20},
                    Case{"attention_23", 0, 34, 5, 64}, Case{"groups", 2, 17, 3, 126}, Case{"unfolded", 0, 297, 8, 193},
                    Case{"branches", 0, 5, 0, 25}, Case{"integers", 0, 152, 0, 183}, Case{"fused", 0, 27, 3, 78}),
    [](const auto &file) { return file.param.name; });

} // namespace
} // namespace gradweave::graph::onnx
