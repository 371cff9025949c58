// Convolutions of one tap and a stride, whose samples are tensors: which there are, and that no bit changes.
#include "graph/golden/execution.hpp"
#include "graph/golden/initialise.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/training.hpp"
#include "sw_models/numerics/numerics.hpp"
#include "tests/train/npu/strided_network.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

TrainingGraph step_of(const Graph &forward, bool samples) {
  TrainingOptions options;
  options.optimizer = OptimizerKind::kSgd;
  options.read_samples = samples;
  return training_graph(forward, operators(), options);
}

std::size_t count_ops(const Graph &graph, std::string_view name) {
  std::size_t count = 0;
  for (const Op &op : graph.ops)
    count += op.type->name == name ? 1 : 0;
  return count;
}

/// One sample for both convolutions, forward and back; the sum and the gradient of Relu before the zeros.
TEST(Samples, AreOneForAllThatReadThem) {
  const Graph forward = runtime::train::small_residual(2, 16, 4);
  const Graph step = step_of(forward, true).graph;
  EXPECT_EQ(count_ops(step, "Slice"), 1U);
  EXPECT_EQ(count_ops(step, "SliceGradient"), 1U);
  for (const Op &op : step.ops) {
    if (op.type->name == "SliceGradient") {
      EXPECT_EQ(step.ops[step.tensors[op.inputs[0]].producer].type->name, "ReluGradient");
    }
    if (op.type->name != "Conv" && op.type->name != "ConvInputGradient") continue;
    const bool one_tap = step.tensors[op.inputs[1]].shape[1] == 1;
    if (one_tap) EXPECT_EQ(op.attributes.integers("strides"), (std::vector<std::int64_t>{1, 1})) << op.name;
  }
  EXPECT_EQ(count_ops(step_of(forward, false).graph, "Slice"), 0U);
}

/// A step with all its tensors.
Execution<Contract> run_all(const TrainingGraph &step) {
  Execution<Contract> values(step.graph, {true, 1, [](TensorId) { return true; }});
  for (TensorId id = 0; id < step.graph.tensors.size(); ++id) {
    const Tensor &tensor = step.graph.tensors[id];
    if (tensor.role == Role::kParameter || tensor.role == Role::kState) values.set(id, initial_values(tensor, 1));
  }
  for (const auto &[forward, id] : step.micro_batches[0].inputs) {
    const std::size_t elements = step.graph.tensors[id].shape.elements();
    if (is_real(step.graph.tensors[id].type)) {
      std::vector<float> x;
      for (std::size_t i = 0; i < elements; ++i)
        x.push_back(static_cast<float>(std::sin(0.7 * static_cast<double>(i))));
      values.set(id, std::move(x));
    } else {
      values.set_index(id, std::vector<std::int32_t>(elements, 1));
    }
  }
  values.set(step.constants, {0.5F});
  values.run();
  return values;
}

TEST(Samples, ChangeNoBitOfOtherTensors) {
  const Graph forward = runtime::train::small_residual(3, 24, 4);
  const TrainingGraph plain = step_of(forward, false), sampled = step_of(forward, true);
  const Execution<Contract> a = run_all(plain), b = run_all(sampled);
  std::size_t compared = 0;
  for (TensorId id = 0; id < plain.graph.tensors.size(); ++id) {
    const TensorId same = sampled.graph.find(plain.graph.tensors[id].name);
    if (same == kNone || !plain.graph.tensors[id].computed()) continue;
    const std::vector<float> &x = a.get(id).real, &y = b.get(same).real;
    ASSERT_EQ(x.size(), y.size()) << plain.graph.tensors[id].name;
    ASSERT_EQ(plain.graph.tensors[id].type, sampled.graph.tensors[same].type) << plain.graph.tensors[id].name;
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(bits_of_fp32(x[i]), bits_of_fp32(y[i])) << plain.graph.tensors[id].name << " [" << i << "]";
    ++compared;
  }
  EXPECT_GT(compared, plain.graph.ops.size() / 2);
}

} // namespace
} // namespace gradweave::graph
