#include "compiler/pooling/window_layout.hpp"

#include "compiler/ir/arithmetic.hpp"

namespace gradweave::compiler::pooling {

WindowLayout window_layout(const WindowWork &work, const std::vector<Extent> &largest, std::uint32_t lanes) {
  WindowLayout layout;
  PlaceLayout place(lanes);
  for (std::size_t v = 0; v < work.values.size(); ++v) {
    const WindowValue &value = work.values[v];
    ValueTiles &tiles = layout.values.emplace_back();
    if (value.image) {
      tiles.row_phases = work.stride.rows;
      tiles.col_phases = value.written ? work.stride.cols : 1;
    } else {
      tiles.spread = work.stride.cols;
    }
    if (largest[v].rows == 0) continue;
    const std::size_t rows = divide_up(largest[v].rows, tiles.row_phases);
    const std::size_t cols = ((largest[v].cols - 1) * tiles.spread + 1) * work.channels;
    for (std::size_t phase = 0; phase < tiles.row_phases * tiles.col_phases; ++phase)
      tiles.tiles.push_back(place.add(rows, cols, value.fp32));
  }
  layout.rows = place.rows();
  return layout;
}

} // namespace gradweave::compiler::pooling
