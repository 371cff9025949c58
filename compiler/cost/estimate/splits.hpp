// Areas of the scratchpad that are worth trying.
#pragma once

#include "compiler/cost/estimate/estimate.hpp"
#include "compiler/ir/program.hpp"
#include "sw_models/config/npu_config.hpp"

#include <vector>

namespace gradweave::compiler {

/// Splits on bank boundaries near the shares that the estimate wants, up to `reach` banks away, the closest first, and
/// last the whole scratchpad as one area.
std::vector<SpmSplit> splits_near(const RoughEstimate &rough, const NpuConfig &npu, int reach);

} // namespace gradweave::compiler
