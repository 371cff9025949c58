// Networks around one convolution, and steps of them with chosen data.
#pragma once

#include "base/random/random_data.hpp"
#include "graph/build/builder.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/training.hpp"
#include "sw_models/numerics/numerics.hpp"
#include "tests/sw_models/random_convolution.hpp"
#include "train/product_runner.hpp"
#include "train/rate.hpp"
#include "train/step_executor.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gradweave::runtime::train {

inline graph::Attributes attributes_of(const Convolution &c) {
  const auto two = [](std::uint32_t a, std::uint32_t b) { return std::vector<std::int64_t>{a, b}; };
  return {{"strides", two(c.stride_height, c.stride_width)},
          {"pads", std::vector<std::int64_t>{c.pad_top, c.pad_left, c.pad_bottom, c.pad_right}},
          {"dilations", two(c.dilation_height, c.dilation_width)},
          {"group", std::int64_t{c.groups}}};
}

/// Rows or columns that the convolution reads of its image, from the first to the last.
inline std::int64_t pixels_read(std::uint32_t out, std::uint32_t stride, std::uint32_t dilation, std::uint32_t kernel,
                                std::uint32_t pads) {
  return std::int64_t{out - 1} * stride + std::int64_t{dilation} * (kernel - 1) + 1 - pads;
}

/// A pointwise convolution, so that the image has a gradient, perhaps a bias, the convolution, and perhaps one that
/// turns its result into an image again; the loss is a sum over elements, through which no value spreads.
inline graph::Graph around(const Convolution &c, Dice &dice) {
  graph::Graph graph;
  graph.name = "around";
  graph::Builder build(graph, graph::operators());
  const std::uint32_t n = c.n();
  graph::TensorId x = build.input("images", graph::ElementType::kFp32, {c.batch, c.height, c.width, 2});
  x = build.add("Conv", {x, build.parameter("a.w", {1, 1, 1, 2, c.channels}, "kaiming_uniform")}, {}, "a");
  if (dice.chance(0.5)) x = build.add("Bias", {x, build.parameter("b", {c.channels}, "zeros")}, {}, "bias");
  const graph::TensorId w =
      build.parameter("conv.w", {c.groups, c.kernel_height, c.kernel_width, c.group_channels(), n}, "kaiming_uniform",
                      dice.chance(0.1));
  x = build.add("Conv", {x, w}, attributes_of(c), "conv");
  if (dice.chance(0.3) &&
      pixels_read(c.out_height(), c.stride_height, c.dilation_height, c.kernel_height, c.pad_top + c.pad_bottom) > 0 &&
      pixels_read(c.out_width(), c.stride_width, c.dilation_width, c.kernel_width, c.pad_left + c.pad_right) > 0)
    x = build.add("ConvTranspose",
                  {x, build.parameter("back.w", {c.groups, c.kernel_height, c.kernel_width, 3, n}, "kaiming_uniform")},
                  attributes_of(c), "back");
  const graph::TensorId target = build.input("target", graph::ElementType::kFp32, build.shape(x));
  graph.loss = build.add("MeanSquaredError", {x, target}, {}, "loss");
  graph.results = {x};
  return graph;
}

/// What a step did.
struct ConvolutionStep {
  std::string problem; ///< empty: every tensor is as the golden execution has it
  std::size_t over_images = 0, passes = 0;
  std::vector<HostProduct> host;
  std::uint64_t cycles = 0;
};

/// A step of around() on a device. Weights and inputs are plain, or have special values.
inline ConvolutionStep step_around(const Convolution &conv, Dice &dice, Device &device, const ProductOptions &options) {
  const graph::Graph forward = around(conv, dice);
  const graph::TrainingOptions training;
  const graph::TrainingGraph step = graph::training_graph(forward, graph::operators(), training);
  StepExecutor executor(step, device, options);
  Living golden = initial_living(step.graph, dice.below(1U << 30U));
  std::vector<std::vector<Fed>> batches{synthetic_feed(forward, dice.below(1U << 30U))->batch(0)};
  const DataMix mix = random_mix(dice);
  const auto strew = [&](std::vector<float> &values) {
    for (float &value : values)
      if (dice.chance(0.5)) value = fp32_from_bf16(random_bf16(mix, dice));
  };
  if (dice.chance(0.7)) {
    for (Fed &fed : batches.front())
      strew(fed.values.real);
    for (graph::TensorId id = 0; id < golden.size(); ++id)
      if (step.graph.tensors[id].role == graph::Role::kParameter) strew(golden[id]);
  }
  Living living = golden;
  const StepResult result =
      executor.compared(batches, step_constants(training, {RateForm::kConstant, 0.01, 0, 10}, 0), golden, living);
  ConvolutionStep done;
  if (result.difference) done.problem = result.difference->text();
  if (!result.failures.empty()) done.problem = result.failures.front();
  for (const ProductPass &pass : executor.plan().passes)
    done.over_images += pass.layer.image ? 1 : 0;
  done.passes = executor.plan().passes.size();
  done.host = executor.plan().host;
  done.cycles = result.products.cycles;
  return done;
}

} // namespace gradweave::runtime::train
