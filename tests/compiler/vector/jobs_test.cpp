// Jobs of the vector unit give golden execution's bits: each operator of whole training steps, on machines of several
// widths.
#include "compiler/vector/lower_op.hpp"
#include "compiler/vector/run_jobs.hpp"
#include "graph/build/inference.hpp"
#include "graph/operators/table.hpp"
#include "sw_models/numerics/numerics.hpp"
#include "tests/compiler/vector/step_ops.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

namespace gradweave::compiler {
namespace {

constexpr std::uint64_t kSeed = 27;

const std::vector<NetworkStep> &steps() {
  static const std::vector<NetworkStep> all = network_steps();
  return all;
}

/// Widths for an op of so many elements: those of `small` and `large` and, where it does not take long, odd ones.
std::vector<LineWidth> widths(std::size_t elements) {
  constexpr std::size_t kMany = 100'000;
  if (elements > kMany) return {{45, 4}};
  return {{45, 4}, {128, 8}, {5, 1}, {3, 2}};
}

/// Values before the run: inputs, and a pattern that no computation gives.
JobMemory memory_of(const OpJobs &jobs, const OpData &data) {
  constexpr std::uint32_t kNothing = 0x7FA0BEEFU;
  JobMemory memory;
  for (std::size_t v = 0; v < jobs.values.size(); ++v)
    memory.push_back(v < data.inputs.size() ? bits_of(data.inputs[v])
                                            : std::vector<std::uint32_t>(jobs.values[v].elements, kNothing));
  return memory;
}

OpJobs lowered(const graph::Graph &graph, const graph::Op &op, const OpData &data) {
  std::vector<const std::vector<std::int32_t> *> indices;
  for (const auto &input : data.inputs)
    indices.push_back(input.index.empty() ? nullptr : &input.index);
  return lower_op(graph, op, indices);
}

/// The first element that differs from golden execution; empty if none does.
std::string difference(const graph::Graph &graph, const graph::Op &op, const OpData &data, const OpJobs &jobs,
                       const LineWidth &width) {
  JobMemory memory = memory_of(jobs, data);
  run_jobs(jobs, width, memory);
  for (std::size_t o = 0; o < op.outputs.size(); ++o) {
    const std::vector<std::uint32_t> golden = bits_of(data.outputs[o]);
    const std::vector<std::uint32_t> &got = memory[op.inputs.size() + o];
    for (std::size_t i = 0; i < golden.size(); ++i)
      if (golden[i] != got[i])
        return fmt::format("{}: '{}' [{}] is 0x{:08X}, golden 0x{:08X}, with {} lanes x {}", describe(op),
                           graph.tensors[op.outputs[o]].name, i, got[i], golden[i], width.lanes, width.lines);
  }
  return {};
}

TEST(VectorJobs, GiveTheBitsOfGoldenExecution) {
  std::size_t compared = 0;
  for (const auto &[step, op] : distinct_ops(steps())) {
    if (!has_jobs(*op->type)) continue;
    for (const Values values : {Values::kTame, Values::kSpecial}) {
      Dice dice(kSeed);
      const OpData data = random_data(step->graph, *op, values, dice);
      const OpJobs jobs = lowered(step->graph, *op, data);
      std::size_t elements = 0;
      for (const JobValue &value : jobs.values)
        elements += value.elements;
      for (const LineWidth &width : widths(elements)) {
        const std::string found = difference(step->graph, *op, data, jobs, width);
        EXPECT_EQ(found, "") << step->name << ", seed " << kSeed;
        if (!found.empty()) break;
      }
    }
    ++compared;
  }
  EXPECT_GT(compared, 200U);
}

} // namespace
} // namespace gradweave::compiler
