// How dW of a depthwise convolution is cut, and where the tiles of an area lie.
#pragma once

#include "compiler/depthwise/axis.hpp"
#include "compiler/depthwise/work.hpp"
#include "compiler/vector_stream/group/place_tile.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler::depthwise {

/// A place with an area's tiles, whose rows are pixels. X lies in planes of columns by their phase, with zeros around
/// each row of the image; each row begins in the same lane, so that rows a tap apart are panels of one tile.
struct WeightLayout {
  std::size_t channels = 1, rows = 1; ///< of the largest area
  std::size_t panels = 1;             ///< of a pixel's channels
  std::int32_t first_col = 0;         ///< of a plane, counted in its phase
  std::size_t width = 0, height = 0;  ///< of a plane
  std::vector<PlaceTile> planes;      ///< by phases of columns
  PlaceTile dy;                       ///< with a copy for each row of the kernel, as panels, if those are lanes
  PlaceTile result;                   ///< channels by taps
  PlaceTile sums;                     ///< in the region for chains: a line for each tap and panel
  std::size_t spm_rows = 0;

  /// Rows of the kernel whose lanes are side by side: all, where a panel has all channels; else one.
  std::size_t kernel_rows(const Convolution &conv) const { return panels == 1 ? conv.kernel_height : 1; }
};

/// None fits: nothing.
std::optional<WeightLayout> choose_weight_layout(const Convolution &conv, const NpuConfig &npu);

} // namespace gradweave::compiler::depthwise
