// Products of depthwise convolutions that a step leaves to the vector unit.
#pragma once

#include "compiler/depthwise/depthwise.hpp"
#include "graph/ir/graph.hpp"

#include <optional>

namespace gradweave::runtime::train {

/// The areas of an op that is a product of a depthwise convolution; values: its first two inputs and its output. None:
/// it is no such op, goes on with a sum, or does not fit the NPU: the array computes it.
std::optional<compiler::AreaPlan> depthwise_areas_of(const graph::Graph &graph, const graph::Op &op,
                                                     const NpuConfig &npu);

} // namespace gradweave::runtime::train
