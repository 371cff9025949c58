// A bottleneck of a 1 x 1, a 3 x 3 and a 1 x 1 convolution, walked row by row.
#pragma once

#include "compiler/spm/residency.hpp"
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

/// Bytes of Y of the layer that LOADs and STOREs move.
inline std::uint64_t bytes_of_y(const Compiled &step, std::size_t layer) {
  const Traffic &y = step.traffic[layer][static_cast<std::size_t>(Tensor::kY)];
  return y.read_bytes + y.write_bytes;
}

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

/// A woven bottleneck, in bands of images of which the scratchpad has room for one.
struct Images : Bottleneck {
  explicit Images(const char *name = "test8", std::uint32_t batch = 3) : Bottleneck(name, 4, 1, batch) {
    conv.channels = conv.out_channels = 8; // a panel
    conv.height = 4 * (npu.spm_rows() * 54 / 100 / conv.width / 4 + 1);
    make(16, 13);
    in_bands(2, 2, 1);
  }
  void in_bands(std::uint32_t reduce, std::uint32_t conv3x3, std::uint32_t expand) {
    cut(0, {reduce * conv.width, 16, 8});
    cut(1, {conv3x3 * conv.width, 72, 8});
    cut(2, {expand * conv.width, 8, 13});
  }
  std::uint32_t most_tenants() const {
    std::uint32_t most = 0;
    const Layout own = layout();
    const TileWalk walk(plans, layers, own, npu);
    for (const Tile &t : walk.table().tiles)
      most = std::max(most, t.tenants);
    return most;
  }
};

/// One of up to four images, in random bands.
inline Images random_images(const char *npu, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto up_to = [&](std::uint32_t most) { return static_cast<std::uint32_t>(1 + rng() % most); };
  Images images(npu, 1 + up_to(3));
  const std::uint32_t reduce = 1U << rng() % 3, conv3x3 = 1U << rng() % 3; // rows: these divide an image
  images.in_bands(reduce, conv3x3, up_to(3));
  if (rng() % 3 == 0) {
    const std::uint32_t lines = up_to(12), terms = up_to(8);
    images.cut(2, {lines, terms, up_to(13)});
  }
  for (PhasePlan &plan : images.plans) {
    plan.window = up_to(4);
    plan.woven = plan.layer > 0;
  }
  images.plans[2].woven = rng() % 4 != 0;
  return images;
}

} // namespace gradweave::compiler
