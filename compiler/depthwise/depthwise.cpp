#include "compiler/depthwise/depthwise.hpp"

#include "compiler/depthwise/image_layout.hpp"
#include "compiler/depthwise/plans.hpp"
#include "compiler/depthwise/weights/weight_layout.hpp"
#include "compiler/depthwise/weights/weight_section.hpp"

namespace gradweave::compiler {

std::optional<std::vector<std::vector<isa::Command>>> depthwise_pieces(const DepthwiseWork &work,
                                                                       const std::vector<std::uint64_t> &addresses,
                                                                       const NpuConfig &npu,
                                                                       const DepthwiseRoom &room) {
  if (npu.vectors() == 0) return std::nullopt;
  if (work.product == DepthwiseProduct::kDW) {
    const auto layout = depthwise::choose_weight_layout(work, npu);
    if (!layout) return std::nullopt;
    return depthwise::weight_pieces(work, *layout, addresses, npu, {room.first_pair, room.areas.first_row});
  }
  const auto areas = depthwise::image_areas(work, npu);
  if (!areas) return std::nullopt;
  return section_pieces(*areas, addresses, npu, room.areas);
}

std::optional<std::vector<isa::Command>> depthwise_commands(const DepthwiseWork &work,
                                                            const std::vector<std::uint64_t> &addresses,
                                                            const NpuConfig &npu, const DepthwiseRoom &room) {
  const auto pieces = depthwise_pieces(work, addresses, npu, room);
  if (!pieces) return std::nullopt;
  std::vector<isa::Command> commands;
  for (const std::vector<isa::Command> &piece : *pieces)
    commands.insert(commands.end(), piece.begin(), piece.end());
  return commands;
}

bool has_depthwise_pieces(const DepthwiseWork &work, const NpuConfig &npu) {
  if (npu.vectors() == 0) return false;
  if (work.product == DepthwiseProduct::kDW) return depthwise::choose_weight_layout(work, npu).has_value();
  return depthwise::choose_image_layout(work, npu).has_value();
}

} // namespace gradweave::compiler
