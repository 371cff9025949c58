// Pooling, and its gradient, as areas of the vector unit.
#pragma once

#include "compiler/vector_stream/stage/area.hpp"
#include "graph/ir/graph.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace gradweave::compiler {

/// Cycles of the plan by itself.
using AreaCycles = std::function<std::uint64_t(const AreaPlan &)>;

/// The areas of an operator of windows over an image (pooling/window_work.hpp), values: its inputs and outputs. Its
/// programs are those of its jobs (lower_op()), so its bits are theirs; but a line has the channels of several pixels
/// side by side, a step is a row of the image, and windows are parts of tiles that are loaded once. The cut is that
/// which takes the least time, nearly; with `cycles_of`, of the best such that which takes the fewest cycles. None: it
/// is no such operator, or does not fit the NPU.
std::optional<AreaPlan> pooling_areas(const graph::Graph &graph, const graph::Op &op, const NpuConfig &npu,
                                      const AreaCycles &cycles_of = {});

} // namespace gradweave::compiler
