#include "compiler/depthwise/depthwise.hpp"

#include "compiler/depthwise/plans.hpp"

namespace gradweave::compiler {

std::optional<AreaPlan> depthwise_areas(const DepthwiseWork &work, const NpuConfig &npu) {
  if (npu.vectors() == 0) return std::nullopt;
  return work.product == DepthwiseProduct::kDW ? depthwise::weight_areas(work, npu) : depthwise::image_areas(work, npu);
}

} // namespace gradweave::compiler
