#include "train/npu/step_memory.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/layout.hpp"
#include "train/data/tensor_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::runtime::train {
namespace {

using graph::Graph;
using graph::kNone;
using graph::TensorId;

/// A tensor begins at a multiple of a burst, a small one at one of a power of two that holds it.
std::uint64_t alignment_of(std::uint64_t bytes) {
  std::uint64_t alignment = 64;
  while (alignment < compiler::kTensorAlignment && alignment < bytes)
    alignment *= 2;
  return alignment;
}

/// Whether nobody needs the old value once the next one is there.
bool can_take(const Graph &graph, const graph::Update &update, const std::vector<std::vector<graph::OpId>> &readers,
              const std::vector<std::uint32_t> &next_values) {
  const graph::Tensor &next = graph.tensors[update.next];
  if (!next.computed() || next_values[update.next] > 1 || next.type != graph.tensors[update.tensor].type) return false;
  const auto &all = readers[update.tensor];
  if (!all.empty() && all.back() > next.producer) return false;
  return std::find(graph.results.begin(), graph.results.end(), update.tensor) == graph.results.end();
}

} // namespace

StepMemory plan_memory(const Graph &graph) {
  StepMemory memory;
  memory.tensors.assign(graph.tensors.size(), 0);
  memory.takes.assign(graph.tensors.size(), kNone);
  memory.overwritten_.assign(graph.tensors.size(), false);
  const auto readers = graph.consumers();
  std::vector<std::uint32_t> next_values(graph.tensors.size());
  for (const graph::Update &update : graph.updates)
    ++next_values[update.next];
  for (const graph::Update &update : graph.updates) {
    memory.overwritten_[update.tensor] = true;
    if (can_take(graph, update, readers, next_values))
      memory.takes[update.next] = update.tensor;
    else
      memory.moved.push_back(update);
  }
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    if (memory.takes[id] != kNone) continue;
    const std::uint64_t bytes = bytes_of_tensor(graph.tensors[id]);
    memory.tensors[id] = compiler::round_up(memory.bytes, alignment_of(bytes));
    memory.bytes = memory.tensors[id] + bytes;
  }
  for (TensorId id = 0; id < graph.tensors.size(); ++id)
    if (memory.takes[id] != kNone) memory.tensors[id] = memory.tensors[memory.takes[id]];
  memory.scratch = memory.bytes = compiler::round_up(memory.bytes, compiler::kTensorAlignment);
  return memory;
}

void check_memory(std::uint64_t bytes, const Machine &npu) {
  if (bytes <= npu.memory.size_bytes) return;
  throw std::invalid_argument(
      fmt::format("the step's tensors and commands need {} bytes of device memory, NPU '{}' has {}; raise "
                  "memory.size_bytes, take a smaller batch, or leave operators to the host (--operators host)",
                  bytes, npu.name, npu.memory.size_bytes));
}

} // namespace gradweave::runtime::train
