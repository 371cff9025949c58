// Products of depthwise convolutions that a step leaves to the vector unit.
#pragma once

#include "compiler/depthwise/depthwise.hpp"
#include "graph/ir/graph.hpp"

namespace gradweave::runtime::train {

/// Whether an op is a product of a depthwise convolution that the vector unit computes. Else it is no such op, goes on
/// with a sum, or does not fit the NPU: the array computes it.
bool has_depthwise_areas(const graph::Graph &graph, const graph::Op &op, const NpuConfig &npu);

/// The areas of an op that has some; values: its first two inputs and its output.
compiler::AreaPlan depthwise_areas_of(const graph::Graph &graph, const graph::Op &op, const NpuConfig &npu);

} // namespace gradweave::runtime::train
