// A bottleneck of a 1 x 1, a 3 x 3 and a 1 x 1 convolution, walked row by row.
#pragma once

#include "compiler/back/compile_plan.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/spm/residency.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/layer_run.hpp"

#include <algorithm>
#include <random>
#include <vector>

namespace gradweave::compiler {

struct Bottleneck {
  Machine npu;
  Convolution conv;
  std::vector<Layer> layers;
  std::vector<PhasePlan> plans;

  Bottleneck(const char *name, std::uint32_t height, std::uint32_t dilation = 1, std::uint32_t batch = 1)
      : npu(load_config(name)) {
    conv.batch = batch;
    conv.height = height;
    conv.width = 5;
    conv.channels = 12;
    conv.out_channels = 10;
    conv.kernel_height = conv.kernel_width = 3;
    conv.dilation_height = conv.dilation_width = dilation;
    conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = dilation;
    make(16, 13);
  }
  /// The layers, of so many channels before and after, all walked row by row.
  void make(std::uint32_t in, std::uint32_t out) {
    layers = {make_layer(conv.m(), in, conv.channels, false), image_layer(conv),
              make_layer(conv.m(), conv.out_channels, out)};
    for (std::uint32_t i = 0; i < layers.size(); ++i) {
      layers[i].name = fmt::format("l{}", i);
      layers[i].index = i;
      if (i > 0) layers[i].input = layers[i - 1].name;
    }
    cut(0, {conv.width, in, conv.channels});
    cut(1, {conv.width, 3 * conv.channels, conv.out_channels});
    cut(2, {conv.width, conv.out_channels, out});
  }
  void cut(std::uint32_t layer, TileShape tile) {
    PhasePlan plan;
    plan.kind = PhaseKind::kForward;
    plan.layer = layer;
    const TileShape largest = largest_tile(plan.kind, layers[layer]);
    plan.tile = {std::min(tile.m, largest.m), std::min(tile.k, largest.k), std::min(tile.n, largest.n)};
    plan.loops = {Dim::kM, Dim::kN, Dim::kK};
    const RowRange all{0, npu.spm_rows()};
    plan.split = {all, all, all};
    plan.takes_parts = layer > 0;
    plan.woven = layer > 0;
    if (npu.cores > 1) {
      plan.parts = {Dim::kM, npu.cores, npu.cores};
      plan.parts.sharing = Sharing::kTurns;
    }
    plan.products = plan_products(plan, layers[layer], npu);
    plans.resize(std::max<std::size_t>(plans.size(), layer + 1));
    plans[layer] = plan;
  }
  Layout layout() const { return make_layout(layers, Pass::kForward, npu); }
  Compiled compile() const { return compile_plans(layers, Pass::kForward, plans, npu); }
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
