// Products of depthwise convolutions that a step computes with the vector unit.
#pragma once

#include "compiler/depthwise/depthwise.hpp"
#include "graph/ir/graph.hpp"

namespace gradweave::runtime::train {

/// Whether an op is a product of a depthwise convolution that has a section of its own. Else it is no such op, goes on
/// with a sum, or does not fit the NPU: it is computed as other products are.
bool has_depthwise_pieces(const graph::Graph &graph, const graph::Op &op, const NpuConfig &npu);

/// The section of an op that has one; addresses are those of its first two inputs and its output.
std::vector<isa::Command> depthwise_commands_of(const graph::Graph &graph, const graph::Op &op,
                                                const std::vector<std::uint64_t> &addresses, const NpuConfig &npu,
                                                const compiler::DepthwiseRoom &room);

} // namespace gradweave::runtime::train
