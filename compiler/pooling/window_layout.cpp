#include "compiler/pooling/window_layout.hpp"

#include "compiler/ir/arithmetic.hpp"

namespace gradweave::compiler::pooling {

WindowLayout window_layout(const WindowWork &work, const std::vector<Extent> &largest, bool by_phases,
                           std::uint32_t lanes) {
  WindowLayout layout;
  layout.lane_stride = by_phases ? 1 : work.stride.cols;
  PlaceLayout place(lanes);
  for (std::size_t v = 0; v < work.values.size(); ++v) {
    const WindowValue &value = work.values[v];
    ValueTiles &tiles = layout.values.emplace_back();
    if (value.image) {
      tiles.row_phases = work.stride.rows;
      tiles.col_phases = by_phases || value.written ? work.stride.cols : 1;
      tiles.apart = by_phases ? work.stride.cols : 1;
    } else {
      tiles.spread = layout.lane_stride;
    }
    if (largest[v].rows == 0) continue;
    const std::size_t rows = divide_up(largest[v].rows, tiles.row_phases);
    const std::size_t pixels = (divide_up(largest[v].cols, tiles.apart) - 1) * tiles.spread + 1;
    for (std::size_t phase = 0; phase < tiles.row_phases * tiles.col_phases; ++phase)
      tiles.tiles.push_back(place.add(rows, pixels * work.channels, value.fp32));
  }
  layout.rows = place.rows();
  return layout;
}

} // namespace gradweave::compiler::pooling
