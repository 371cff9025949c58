// Ops of a graph as one section of commands, run and compared with the graph's golden execution.
#pragma once

#include "compiler/vector/lower_op.hpp"
#include "compiler/vector_stream/cut/values_through_memory.hpp"
#include "graph/build/builder.hpp"
#include "graph/golden/execution.hpp"
#include "graph/operators/table.hpp"
#include "sw_models/numerics/numerics.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "sw_models/vector/random_program.hpp"
#include "tests/compiler/vector_stream/section_run.hpp"

#include <gtest/gtest.h>

#include <map>

namespace gradweave::compiler {

constexpr std::uint64_t kGroupSeed = 271;

class OpGroup {
public:
  explicit OpGroup(const Machine &npu) : npu_(npu) {}

  graph::Graph &graph() { return graph_; }
  graph::TensorId input(const std::string &name, graph::ElementType type, graph::Shape shape) {
    return builder_.input(name, type, std::move(shape));
  }
  /// The type is that of the first output.
  graph::TensorId add(const std::string &op, const std::vector<graph::TensorId> &inputs, graph::ElementType type,
                      const std::string &name, const graph::Attributes &attributes = {}) {
    const graph::TensorId out = builder_.add(op, inputs, attributes, name);
    graph_.tensors[out].type = type;
    return out;
  }

  OpJobs jobs() const { return values_through_memory(lowered_jobs(), npu_); }

  OpJobs lowered_jobs() const {
    std::vector<graph::OpId> ops(graph_.ops.size());
    for (graph::OpId i = 0; i < ops.size(); ++i)
      ops[i] = i;
    return lower_ops(graph_, graph_.consumers(), ops);
  }

  std::vector<isa::Command> commands() const {
    const OpJobs all = jobs();
    return job_commands(all, SectionPlaces(all).addresses, npu_);
  }

  /// Bits of all tensors that reach memory, no hazard, and an end on the timing model. `given`: values of inputs by
  /// name; others are any bits.
  void check(const RunStream &run = run_functional, const std::map<std::string, std::vector<float>> &given = {}) const {
    check_stream(commands(), run, given);
  }

  /// The same of other commands, for jobs(), that have the values where SectionPlaces puts them.
  void check_stream(const std::vector<isa::Command> &stream, const RunStream &run = run_functional,
                    const std::map<std::string, std::vector<float>> &given = {}) const {
    const OpJobs all = jobs();
    ASSERT_EQ(first_hazard(npu_, stream), "");
    ASSERT_TRUE(timing::run(npu_, stream).ok());
    graph::ExecutionOptions options;
    options.keep = [](graph::TensorId) { return true; };
    graph::Execution<graph::Contract> golden(graph_, options);
    const SectionPlaces places(all);
    DeviceMemory memory(places.end + stream.size() * isa::kCommandBytes);
    Dice dice(kGroupSeed);
    for (std::size_t v = 0; v < all.values.size(); ++v) {
      const JobValue &value = all.values[v];
      if (value.tensor == graph::kNone || graph_.tensors[value.tensor].computed()) continue;
      std::vector<float> values = drawn(value, dice);
      if (const auto found = given.find(value.name); found != given.end()) values = found->second;
      std::vector<std::uint32_t> words;
      for (const float x : values)
        words.push_back(bits_of_fp32(x));
      write_value(memory, places.addresses[v], value, words);
      golden.set(value.tensor, std::move(values));
    }
    golden.run();
    ASSERT_TRUE(run(npu_, memory, stream, places.end));
    for (std::size_t v = 0; v < all.values.size(); ++v)
      if (all.values[v].tensor != graph::kNone && graph_.tensors[all.values[v].tensor].computed())
        compare(all.values[v], places.addresses[v], golden, memory);
  }

  timing::RunResult time() const { return timing::run(npu_, commands()); }

private:
  static std::vector<float> drawn(const JobValue &value, Dice &dice) {
    std::vector<float> values(value.elements);
    for (float &x : values) {
      const std::uint32_t bits = vector::random_fp32(dice);
      x = canonical(fp32_from_bits(value.type == graph::ElementType::kBf16 ? bits & 0xFFFF0000U : bits));
    }
    return values;
  }

  static void compare(const JobValue &value, std::uint64_t at, const graph::Execution<graph::Contract> &golden,
                      DeviceMemory &memory) {
    const std::vector<std::uint32_t> right = bits_of(golden.get(value.tensor));
    for (std::size_t i = 0; i < right.size(); ++i)
      ASSERT_EQ(read_element(memory, at, value, i), right[i])
          << value.name << " element " << i << ", seed " << kGroupSeed;
  }

  const Machine &npu_;
  graph::Graph graph_;
  graph::Builder builder_{graph_, graph::operators()};
};

/// Values of the constants of a step.
inline std::map<std::string, std::vector<float>> add_adamw(OpGroup &group, const graph::Shape &shape) {
  std::vector<graph::TensorId> inputs;
  for (const char *name : {"w", "g", "m", "v"})
    inputs.push_back(group.input(name, graph::ElementType::kFp32, shape));
  inputs.push_back(group.input("constants", graph::ElementType::kFp32, {3}));
  group.add("AdamW", inputs, graph::ElementType::kFp32, "next");
  return {{"constants", {1e-3F, 10.0F, 1000.0F}}};
}

/// A sum of elements, the statistics and results of its rows, and a copy of these.
inline void add_residual_norm(OpGroup &g, std::uint32_t rows, std::uint32_t cols) {
  const graph::TensorId x = g.input("x", graph::ElementType::kFp32, {rows, cols}),
                        y = g.input("y", graph::ElementType::kBf16, {rows, cols});
  const graph::TensorId gamma = g.input("gamma", graph::ElementType::kFp32, {cols}),
                        beta = g.input("beta", graph::ElementType::kFp32, {cols});
  const graph::TensorId sum = g.add("Add", {x, y}, graph::ElementType::kFp32, "sum");
  const graph::TensorId norm = g.add("LayerNormalization", {sum, gamma, beta}, graph::ElementType::kFp32, "norm");
  g.add("Cast", {norm}, graph::ElementType::kBf16, "copy");
}

/// What comes back through a normalisation: dx, its copy, and sums over the rows for gamma and for a bias before it.
inline void add_norm_gradient(OpGroup &g, std::uint32_t rows, std::uint32_t cols) {
  using graph::ElementType;
  const graph::TensorId dy = g.input("dy", ElementType::kBf16, {rows, cols}),
                        x = g.input("x", ElementType::kFp32, {rows, cols}),
                        mean = g.input("mean", ElementType::kFp32, {rows}),
                        rstd = g.input("rstd", ElementType::kFp32, {rows}),
                        gamma = g.input("gamma", ElementType::kFp32, {cols});
  const graph::TensorId dx = g.add("LayerNormalizationGradient", {dy, x, mean, rstd, gamma}, ElementType::kFp32, "dx");
  g.add("LayerNormalizationScaleGradient", {dy, x, mean, rstd}, ElementType::kFp32, "dgamma");
  g.add("BiasGradient", {dy}, ElementType::kFp32, "dbeta");
  g.add("BiasGradient", {dx}, ElementType::kFp32, "dbias");
  g.add("Cast", {dx}, ElementType::kBf16, "copy");
  g.graph().results.push_back(dx);
}

} // namespace gradweave::compiler
