#include "tests/compiler/vector/op_jobs.hpp"

#include "compiler/vector/lower_op.hpp"
#include "graph/build/inference.hpp"

#include <fmt/format.h>

namespace gradweave::compiler {
namespace {

/// Values before the run: inputs, and a pattern that no computation gives.
JobMemory memory_of(const OpJobs &jobs, const OpData &data) {
  constexpr std::uint32_t kNothing = 0x7FA0BEEFU;
  JobMemory memory;
  for (std::size_t v = 0; v < jobs.values.size(); ++v)
    memory.push_back(v < data.inputs.size() ? bits_of(data.inputs[v])
                                            : std::vector<std::uint32_t>(jobs.values[v].elements, kNothing));
  return memory;
}

} // namespace

OpJobs lowered(const graph::Graph &graph, const graph::Op &op, const OpData &data) {
  std::vector<const std::vector<std::int32_t> *> indices;
  for (const auto &input : data.inputs)
    indices.push_back(input.index.empty() ? nullptr : &input.index);
  return lower_op(graph, op, indices);
}

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

} // namespace gradweave::compiler
