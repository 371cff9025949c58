#include "compiler/depthwise/depthwise.hpp"

#include "compiler/depthwise/image_layout.hpp"
#include "compiler/depthwise/plans.hpp"
#include "compiler/depthwise/weight_layout.hpp"

namespace gradweave::compiler {

std::optional<AreaPlan> depthwise_areas(const DepthwiseWork &work, const NpuConfig &npu) {
  if (npu.vectors() == 0) return std::nullopt;
  return work.product == DepthwiseProduct::kDW ? depthwise::weight_areas(work, npu) : depthwise::image_areas(work, npu);
}

bool has_depthwise_areas(const DepthwiseWork &work, const NpuConfig &npu) {
  if (npu.vectors() == 0) return false;
  if (work.product == DepthwiseProduct::kDW) return depthwise::choose_weight_layout(work.conv, npu).has_value();
  return depthwise::choose_image_layout(work, npu).has_value();
}

} // namespace gradweave::compiler
