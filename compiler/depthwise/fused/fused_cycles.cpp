#include "compiler/depthwise/fused/fused_cycles.hpp"

#include "compiler/depthwise/programs.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/lower/dram_bytes.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/vector_stream/stage/lane_cycles.hpp"

#include <algorithm>

namespace gradweave::compiler::depthwise {
namespace {

constexpr double kHidden = 0.125; ///< share of cycles beside the memory's that nothing hides

} // namespace

std::uint64_t fused_array_cycles(const Layer &layer, const FusedMap &map, std::size_t begin, std::size_t end,
                                 const Machine &npu) {
  const std::uint64_t lines = (map.width - 1) * map.pitch + end - begin;
  return divide_up(lines, npu.rows) * divide_up(layer.n, npu.cols) * std::max(layer.k, shortest_block(npu));
}

std::uint64_t fused_unit_cycles(const Layer &layer, const FusedMap &to, std::size_t rows, const Machine &npu) {
  const Convolution &conv = *layer.conv;
  const std::uint64_t strips = divide_up(conv.channels, npu.lanes()) * to.columns;
  return lane_cycles(image_rows(conv.kernel_height, conv.kernel_width), {strips, rows}, npu);
}

double fused_memory_cycles(std::uint64_t rows, std::uint64_t cols, const Machine &npu) {
  const std::uint64_t bytes = rows * round_up(cols * 2, access_bytes(npu)) * npu.memory.bytes_den;
  return static_cast<double>(bytes) / static_cast<double>(npu.memory.bytes_num);
}

double fused_cycles(const std::vector<Layer> &layers, const FusedLayout &layout, const Machine &npu) {
  double memory = 0, others = 0;
  std::size_t images = 1;
  for (std::size_t area = 0; area < layout.areas(); ++area) {
    const std::size_t first = area * layout.rows;
    const std::vector<FusedRows> rows =
        fused_rows(layers, {static_cast<std::int64_t>(first),
                            std::min<std::size_t>(layout.rows, layout.maps.back().height - first)});
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const FusedMap &map = layout.maps[i];
      if (layers[i].vector) images = layers[i].conv->batch;
      const std::uint64_t cycles =
          layers[i].vector ? fused_unit_cycles(layers[i], layout.maps[i + 1], rows[i].count, npu)
                           : fused_array_cycles(layers[i], map, rows[i].begin(), rows[i].end(map.height), npu);
      others += static_cast<double>(cycles);
      if (i == 0)
        memory += fused_memory_cycles(map.width * (rows[i].end(map.height) - rows[i].begin()), map.channels, npu);
    }
    memory += fused_memory_cycles(layout.maps.back().width * rows.back().count, layout.maps.back().channels, npu);
  }
  return static_cast<double>(images) * (memory + kHidden * others);
}

double unfused_cycles(const Layer &layer, const Machine &npu) {
  const std::uint64_t array =
      divide_up(layer.m, npu.rows) * divide_up(layer.n, npu.cols) * std::max(layer.k, shortest_block(npu));
  return fused_memory_cycles(layer.m, layer.k, npu) + fused_memory_cycles(layer.m, layer.n, npu) +
         kHidden * static_cast<double>(array);
}

} // namespace gradweave::compiler::depthwise
