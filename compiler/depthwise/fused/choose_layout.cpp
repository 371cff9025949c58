#include "compiler/depthwise/fused/choose_layout.hpp"

#include "compiler/depthwise/fused/fused_cycles.hpp"
#include "compiler/ir/arithmetic.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler::depthwise {

std::optional<FusedLayout> choose_fused_layout(const std::vector<Layer> &layers, const Machine &npu) {
  const auto deep = std::find_if(layers.rbegin(), layers.rend(), [](const Layer &l) { return l.vector; });
  const std::uint32_t height = deep->conv->out_height();
  std::optional<FusedLayout> best;
  for (std::size_t areas = 1, before = 0; areas <= height; ++areas) {
    const std::size_t rows = divide_up(height, areas);
    if (rows == std::exchange(before, rows)) continue;
    std::optional<FusedLayout> layout = fused_layout(layers, rows, npu);
    if (!layout) continue;
    layout->cycles = fused_cycles(layers, *layout, npu);
    if (!best || layout->cycles < best->cycles) best = std::move(layout);
  }
  return best;
}

} // namespace gradweave::compiler::depthwise
