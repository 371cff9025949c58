// Depthwise convolutions among products.
#pragma once

#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/layer_run.hpp"

#include <vector>

namespace gradweave::compiler {

/// Of one image of size x size pixels, with padding for half of its kernel x kernel taps on each side.
inline Convolution depthwise_conv(std::uint32_t channels, std::uint32_t size, std::uint32_t kernel) {
  Convolution conv;
  conv.batch = 1;
  conv.height = conv.width = size;
  conv.channels = conv.out_channels = conv.groups = channels;
  conv.kernel_height = conv.kernel_width = kernel;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = kernel / 2;
  return conv;
}

inline Layer depthwise_layer(const Convolution &conv) {
  Layer layer = image_layer(conv);
  layer.name = "depthwise";
  return layer;
}

/// A product, a layer that convolves what that computes, and a product of its result.
inline std::vector<Layer> layers_around(Layer middle) {
  const Convolution &conv = *middle.conv;
  Layer before = make_layer(conv.height * conv.width, 5, conv.channels), after = make_layer(conv.m(), conv.channels, 7);
  before.name = middle.input = "expand";
  after.name = "project";
  after.input = middle.name;
  std::vector<Layer> layers{before, middle, after};
  for (std::uint32_t i = 0; i < layers.size(); ++i)
    layers[i].index = i;
  return layers;
}

} // namespace gradweave::compiler
