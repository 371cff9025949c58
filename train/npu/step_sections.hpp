// The stream of a step, in sections, and what it is held to.
#pragma once

#include "graph/ir/graph.hpp"
#include "isa/command.hpp"
#include "train/npu/plan/order/same_elements.hpp"
#include "train/npu/plan/step_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace gradweave::runtime::train {

/// Commands of an op, or of what is staged for it, one behind another in the stream.
struct StepSection {
  graph::OpId op = graph::kNone; ///< of a pass of several the last; kNone: moves of next values at the end
  std::string what;              ///< operators, and the part in the op if it is one: "Gemm", "Gemm staging"
  std::size_t first = 0, count = 0;
  std::vector<graph::OpId> ops = {}; ///< that it computes, or takes part in
  bool has_gaps = false; ///< its runs have lanes that belong to nothing, and read rows that nobody has written
};

struct StepStream {
  std::vector<isa::Command> commands;
  std::vector<StepSection> sections; ///< in the order of the commands, without gaps
  /// The one that has the command.
  const StepSection &section_of(std::size_t command) const {
    const auto behind = std::upper_bound(sections.begin(), sections.end(), command,
                                         [](std::size_t at, const StepSection &s) { return at < s.first; });
    return *std::prev(behind);
  }
};

/// What of a plan a stream is held to (check_flow.hpp).
struct FlowPlan {
  const graph::Graph &graph;
  const Views &views;
  const StepMemory &memory;
  std::uint64_t memory_bytes = 0; ///< of tensors and of the scratch space behind them
  /// Whether an op gives some rows of its result only: those that an int32 tensor names.
  std::function<bool(graph::OpId)> gives_some_rows;
};

} // namespace gradweave::runtime::train
