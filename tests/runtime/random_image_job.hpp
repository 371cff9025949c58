// Random layers that read images, as jobs: schedules, partitions, passes and data are drawn too.
#pragma once

#include "base/random/dice.hpp"
#include "compiler/back/vector_section.hpp"
#include "compiler/ir/image.hpp"
#include "runtime/job/job.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/sw_models/random_convolution.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string>

namespace gradweave::runtime {

using compiler::image_layer;

/// A job of one layer with the convolution, which reads its image if `image`.
inline JobSpec random_convolution_job(const std::string &npu, std::uint64_t seed, Dice &dice, const Convolution &conv,
                                      bool image) {
  using compiler::Partition;
  using compiler::Schedule;
  JobSpec s;
  s.network = "image";
  s.seed = seed;
  s.layers = {image_layer(conv)};
  s.layers.front().image = image;
  s.layers.front().channel_blocks = seed % 3 != 0;
  s.layers.front().dx = dice.chance(0.8);
  s.npu = load_machine("configs/" + npu + ".toml");
  const Schedule schedules[] = {Schedule::kSequential, Schedule::kInterleave, Schedule::kDxMajor,   Schedule::kDwMajor,
                                Schedule::kRearrange,  Schedule::kIdeal,      Schedule("in_order"), Schedule::kSearch};
  s.compile.schedule = schedules[dice.below(8)];
  s.compile.plans = 10;
  const compiler::Pass passes[] = {compiler::Pass::kForward, compiler::Pass::kBackward, compiler::Pass::kBoth};
  s.compile.pass = passes[dice.below(3)];
  // Search chooses among partitions itself.
  if (s.npu.cores > 1 && s.compile.schedule != Schedule::kSearch)
    s.compile.partition = dice.chance(0.5) ? Partition::kWeightSharing : Partition::kIfmapSharing;
  if (s.compile.partition != Partition::kNone && dice.chance(0.4)) s.compile.sharing = compiler::Sharing::kTurns;
  s.compile.reduction = dice.chance(0.5) ? compiler::Reduction::kChain : compiler::Reduction::kAdd;
  s.data = dice.chance(0.5) ? DataKind::kSpecial : DataKind::kNormal;
  return s;
}

/// `strided`: with any stride and padding.
inline JobSpec random_image_job(const std::string &npu, std::uint64_t seed, bool strided = false) {
  Dice dice(seed);
  const Convolution conv = strided ? random_strided_convolution(dice) : random_image_convolution(dice);
  return random_convolution_job(npu, seed, dice, conv, true);
}

/// One with a stride whose image is packed.
inline JobSpec random_packed_job(const std::string &npu, std::uint64_t seed) {
  Dice dice(seed);
  const std::uint32_t lanes = load_machine("configs/" + npu + ".toml").lanes();
  Convolution conv;
  do {
    conv = random_strided_convolution(dice, 7);
    conv.groups = 1;
    conv.channels = dice.between(1, 4);
  } while (conv.stride_width == 1 || conv.stride_height * conv.stride_width * conv.channels > lanes);
  conv.out_channels = dice.between(1, 19);
  JobSpec s = random_convolution_job(npu, seed, dice, conv, true);
  s.layers.front().packed = true;
  s.layers.front().dx = false;
  return s;
}

/// A depthwise layer that the vector unit takes, on an NPU that has one.
inline JobSpec random_vector_job(const std::string &npu, std::uint64_t seed) {
  Dice dice(seed);
  for (;;) {
    Convolution conv = random_strided_convolution(dice, 4);
    conv.groups = conv.channels = conv.out_channels = dice.between(2, 21);
    JobSpec s = random_convolution_job(npu, seed, dice, conv, true);
    s.compile.partition = compiler::Partition::kNone;
    s.layers.front().y_fp32 = dice.chance(0.3);
    s.layers.front().dx_fp32 = dice.chance(0.3);
    if (!compiler::takes_vector_unit(s.layer(), s.compile.pass, s.npu)) continue;
    s.layers.front().vector = true;
    return s;
  }
}

/// One of any stride and padding that reads an image of this size; or, where chance finds none, of 3 x 3 taps that
/// keep it.
inline Convolution random_convolution_of(std::uint32_t height, std::uint32_t width, std::uint32_t batch, Dice &dice) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    Convolution conv = random_strided_convolution(dice);
    conv.height = height;
    conv.width = width;
    conv.batch = batch;
    const auto fits = [](std::uint32_t size, std::uint32_t taps, std::uint32_t dilation) {
      return size > (taps - 1) * dilation;
    };
    if (fits(height + conv.pad_top + conv.pad_bottom, conv.kernel_height, conv.dilation_height) &&
        fits(width + conv.pad_left + conv.pad_right, conv.kernel_width, conv.dilation_width) &&
        compiler::can_read_image(conv))
      return conv;
  }
  Convolution conv = small_image_convolution(height, 1, 1);
  conv.width = width;
  conv.batch = batch;
  return conv;
}

/// The layer as two: one of Y, which reads the image, and one of dW, and of dX if it has one, over what im2col makes of
/// it.
inline std::vector<compiler::Layer> apart(compiler::Layer layer, bool dx) {
  layer.dx = dx;
  compiler::Layer forward = layer, gradients = layer;
  forward.image = true;
  forward.products = compiler::Products::kForward;
  gradients.image = false;
  gradients.products = compiler::Products::kGradients;
  return {forward, gradients};
}

/// Three convolutions one after the other, in one stream: Y of each is the next one's image, its dX that one's dY.
/// `strided`: each with a stride and padding of its own.
inline JobSpec random_image_chain(const std::string &npu, std::uint64_t seed, bool strided = false) {
  Dice dice(seed);
  Convolution conv = strided ? random_strided_convolution(dice) : random_image_convolution(dice);
  conv.groups = 1;
  JobSpec s = random_image_job(npu, seed);
  s.layers.clear();
  for (std::uint32_t i = 0; i < 3; ++i) {
    if (strided && i > 0) {
      const Convolution before = conv;
      conv = random_convolution_of(before.out_height(), before.out_width(), before.batch, dice);
      conv.out_channels = before.out_channels;
      conv.groups = 1;
    }
    conv.channels = i == 0 ? dice.between(1, 12) : conv.out_channels;
    conv.out_channels = dice.between(1, 12);
    s.layers.push_back(image_layer(conv));
    s.layers.back().name = fmt::format("conv{}", i);
    s.layers.back().index = i;
    if (i > 0) s.layers.back().input = fmt::format("conv{}", i - 1);
  }
  s.compile.partition = compiler::Partition::kNone;
  return s;
}

inline std::string describe(const JobSpec &s) {
  std::ostringstream text;
  text << "seed " << s.seed << ", " << s.npu.name << ", " << s.compile.schedule.name() << ", "
       << to_string(s.compile.pass) << ", " << to_string(s.compile.partition) << ": " << *s.layers.front().conv;
  return text.str();
}

} // namespace gradweave::runtime
