// A bottleneck of a 1 x 1, a 3 x 3 and a 1 x 1 convolution, walked row by row.
#pragma once

#include "tests/compiler/cut_layers.hpp"
#include "tests/compiler/image_layer.hpp"

#include <random>

namespace gradweave::compiler {

struct Bottleneck : CutLayers {
  Convolution conv;

  Bottleneck(const char *name, std::uint32_t height, std::uint32_t dilation = 1, std::uint32_t batch = 1)
      : CutLayers(name), conv(small_convolution(height, dilation, batch)) {
    make(16, 13);
  }
  /// The layers, of so many channels before and after, all walked row by row.
  void make(std::uint32_t in, std::uint32_t out) {
    take({make_layer(conv.m(), in, conv.channels, false), image_layer(conv),
          make_layer(conv.m(), conv.out_channels, out)});
    for (std::size_t i = 1; i < layers.size(); ++i)
      layers[i].input = layers[i - 1].name;
    cut(0, {conv.width, in, conv.channels});
    cut(1, {conv.width, 3 * conv.channels, conv.out_channels});
    cut(2, {conv.width, conv.out_channels, out});
  }
  void cut(std::uint32_t layer, TileShape tile) { CutLayers::cut(layer, tile, Sharing::kTurns).woven = layer > 0; }
};

/// One of few rows, taps one or two rows apart, and images, on the NPU; tiles of the 1 x 1 convolutions are random.
inline Bottleneck random_bottleneck(const char *npu, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto up_to = [&](std::uint32_t most) { return static_cast<std::uint32_t>(1 + rng() % most); };
  Bottleneck net{npu, 2 + up_to(8), up_to(2), up_to(2)}; // in this order
  net.cut(0, {rng() % 2 == 0 ? 5 * up_to(3) : up_to(5), up_to(16), 12});
  net.cut(1, {5, 3 * 12, up_to(10)});
  net.cut(2, {up_to(12), 10, up_to(13)});
  for (PhasePlan &plan : net.plans)
    plan.woven = plan.layer > 0 && rng() % 4 != 0;
  return net;
}

} // namespace gradweave::compiler
