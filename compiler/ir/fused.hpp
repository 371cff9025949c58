// Layers that are computed together (Layer::fused).
#pragma once

#include "graph/network.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::compiler {

/// Layers [first, end) of those compiled together.
struct LayerRange {
  std::size_t first = 0, end = 0;
  std::size_t last() const { return end - 1; }
  std::size_t size() const { return end - first; }
};

/// The layers that one is computed with, itself among them.
inline LayerRange fused_with(const std::vector<Layer> &layers, std::size_t layer) {
  LayerRange range{layer, layer + 1};
  while (layers[range.first].fused)
    --range.first;
  while (range.end < layers.size() && layers[range.end].fused)
    ++range.end;
  return range;
}

/// Whether a layer is computed by a section of commands (VectorSection), and not by products among those of others.
inline bool is_in_section(const std::vector<Layer> &layers, std::size_t layer) {
  return layers[layer].vector || fused_with(layers, layer).size() > 1;
}

} // namespace gradweave::compiler
