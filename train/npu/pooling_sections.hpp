// Poolings of a step that are sections of their own.
#pragma once

#include "compiler/vector_stream/stage/area.hpp"
#include "graph/ir/graph.hpp"
#include "sw_models/config/machine.hpp"

#include <map>

namespace gradweave::runtime::train {

/// The areas (compiler/pooling/pooling.hpp) of the ops that take fewer cycles by them than by their jobs, each alone,
/// by the timing model. Values: the op's inputs, and its output.
std::map<graph::OpId, compiler::AreaPlan> pooling_sections(const graph::Graph &graph, const Machine &npu);

} // namespace gradweave::runtime::train
