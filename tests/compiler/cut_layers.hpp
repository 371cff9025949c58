// A forward pass whose tiles a test cuts by hand, and the image that such passes have.
#pragma once

#include "compiler/back/compile_plan.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "tests/compiler/layer_run.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gradweave::compiler {

/// Of 3 x 3 taps that are `dilation` pixels apart, from 12 channels to 10, padded so that results are as many pixels; 5
/// pixels wide.
inline Convolution small_convolution(std::uint32_t height, std::uint32_t dilation = 1, std::uint32_t batch = 1) {
  Convolution conv;
  conv.batch = batch;
  conv.height = height;
  conv.width = 5;
  conv.channels = 12;
  conv.out_channels = 10;
  conv.kernel_height = conv.kernel_width = 3;
  conv.dilation_height = conv.dilation_width = dilation;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = dilation;
  return conv;
}

struct CutLayers {
  Machine npu;
  std::vector<Layer> layers;
  std::vector<PhasePlan> plans;

  explicit CutLayers(const char *name) : npu(load_config(name)) {}

  /// They are called l0, l1, ...; what each but the first reads is to be named behind this.
  void take(std::vector<Layer> all) {
    layers = std::move(all);
    for (std::uint32_t i = 0; i < layers.size(); ++i) {
      layers[i].name = fmt::format("l{}", i);
      layers[i].index = i;
    }
  }
  /// A layer in such tiles, or those that it has if these are larger; it takes parts of the tiles of the layer that it
  /// reads. Cores, if there are several, share its rows.
  PhasePlan &cut(std::uint32_t layer, TileShape tile, Sharing sharing) {
    PhasePlan plan;
    plan.kind = PhaseKind::kForward;
    plan.layer = layer;
    const TileShape largest = largest_tile(plan.kind, layers[layer]);
    plan.tile = {std::min(tile.m, largest.m), std::min(tile.k, largest.k), std::min(tile.n, largest.n)};
    plan.loops = {Dim::kM, Dim::kN, Dim::kK};
    const RowRange all{0, npu.spm_rows()};
    plan.split = {all, all, all};
    plan.takes_parts = layer > 0;
    if (npu.cores > 1) {
      plan.parts = {Dim::kM, npu.cores, npu.cores};
      plan.parts.sharing = sharing;
    }
    plan.products = plan_products(plan, layers[layer], npu);
    plans.resize(std::max<std::size_t>(plans.size(), layer + 1));
    return plans[layer] = plan;
  }
  Layout layout() const { return make_layout(layers, Pass::kForward, npu); }
  Compiled compile() const { return compile_plans(layers, Pass::kForward, plans, npu); }
};

} // namespace gradweave::compiler
