// Layers that read images.
#pragma once

#include "graph/network.hpp"

namespace gradweave::compiler {

inline Layer image_layer(const Convolution &conv) {
  Layer layer{"conv", conv.m(), conv.k(), conv.n(), true, 0, conv.groups};
  layer.conv = conv;
  layer.image = true;
  return layer;
}

} // namespace gradweave::compiler
