// A walk over the steps of a few layers, from their first plans.
#pragma once

#include "compiler/lower/layout.hpp"
#include "compiler/schedule/step/step_walk.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/step_run.hpp"

namespace gradweave::compiler {

inline constexpr std::uint64_t kPlans = 12;

/// A walk of layers from their first plans.
struct Walked {
  Machine npu;
  std::vector<Layer> layers;
  Layout layout;
  StepPlans own;
  PlansBeside beside;
  std::function<void()> progress;
  StepWalk walk;

  Walked(const char *config, std::vector<Layer> all)
      : npu(load_config(config)), layers(std::move(all)), layout(make_layout(layers, Pass::kBoth, npu)),
        own(layers, Pass::kBoth, layout, npu, kPlans, Objective::kCycles, {}),
        beside(own.machine().tiles, kPlans, Objective::kCycles, {}), walk(prepared()) {}

private:
  StepWalk prepared() {
    own.prepare(1, {});
    return {layers, layout, own, beside, progress};
  }
};

inline Layer product(std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  Layer layer = make_layer(m, k, n);
  layer.dx = true;
  return layer;
}

/// A 3 x 3 convolution of four square images.
inline Layer convolution(std::uint32_t side, std::uint32_t channels) {
  Convolution conv;
  conv.batch = 4;
  conv.height = conv.width = side;
  conv.channels = conv.out_channels = channels;
  conv.kernel_height = conv.kernel_width = 3;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  Layer layer = image_layer(conv);
  layer.dx = true;
  return layer;
}

} // namespace gradweave::compiler
