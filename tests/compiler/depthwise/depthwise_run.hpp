// Depthwise convolutions on the vector unit, run and compared with the direct convolution.
#pragma once

#include "compiler/depthwise/depthwise.hpp"
#include "compiler/vector_stream/section.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/compiler/vector_stream/section_run.hpp"
#include "tests/sw_models/random_convolution.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gradweave::compiler {

constexpr DepthwiseProduct kDepthwiseProducts[] = {DepthwiseProduct::kY, DepthwiseProduct::kDX, DepthwiseProduct::kDW};

/// Every field is drawn, one channel in each group.
inline Convolution random_depthwise(Dice &dice) {
  Convolution c = random_convolution(dice);
  c.groups = c.channels = c.out_channels = dice.chance(0.3) ? dice.between(1, 3) : dice.between(1, 21);
  return c;
}

/// What a product reads, and what the direct convolution gives; words of fp32.
struct DepthwiseData {
  std::vector<std::uint16_t> a, b;
  std::vector<std::uint32_t> result;
};

inline DepthwiseData depthwise_data(const DepthwiseWork &work, Dice &dice) {
  const Convolution &conv = work.conv;
  const ConvolutionData data = random_data(conv, random_mix(dice), dice);
  const auto words = [](const std::vector<std::uint16_t> &values) {
    std::vector<std::uint32_t> all;
    for (const std::uint16_t value : values)
      all.push_back(std::uint32_t{value} << 16U);
    return all;
  };
  if (work.product == DepthwiseProduct::kY)
    return {data.image, data.w, words(direct::forward(conv, data.image.data(), data.w.data()))};
  if (work.product == DepthwiseProduct::kDX)
    return {data.dy, data.w, words(direct::transposed(conv, data.dy.data(), data.w.data()))};
  DepthwiseData weights{data.image, data.dy, {}};
  for (const float value : direct::weight_gradient(conv, data.image.data(), data.dy.data()))
    weights.result.push_back(bits_of_fp32(value));
  return weights;
}

struct DepthwiseSection {
  std::vector<std::uint64_t> addresses;
  std::uint64_t end = 0;
  std::vector<isa::Command> commands;
};

/// None that fits: no commands.
inline DepthwiseSection depthwise_section(const DepthwiseWork &work, const NpuConfig &npu) {
  const Convolution &conv = work.conv;
  const std::uint64_t pitch = work.pixel_pitch(), image = conv.image_size() / conv.channels * pitch,
                      result = conv.m() * pitch, weights = std::uint64_t{conv.k()} * conv.groups;
  const std::uint64_t a = work.product == DepthwiseProduct::kDX ? result : image,
                      b = work.product == DepthwiseProduct::kDW ? result : weights;
  const auto behind = [](std::uint64_t at, std::uint64_t bytes) { return (at + bytes + 63) / 64 * 64; };
  DepthwiseSection s;
  s.addresses = {0x1000, behind(0x1000, a * 2), 0};
  s.addresses[2] = behind(s.addresses[1], b * 2);
  s.end = behind(s.addresses[2], std::max({image, result, weights}) * 4);
  s.commands =
      depthwise_commands(work, s.addresses, npu, {{}, kSectionSemaphores}).value_or(std::vector<isa::Command>());
  return s;
}

/// A LOAD that leaves no zero in the scratchpad, whose rows are all the bytes at address 0.
inline isa::Command dirty_scratchpad(const NpuConfig &npu) {
  isa::DmaCommand dma;
  dma.rows = npu.spm_rows();
  dma.cols = npu.lanes();
  dma.spm.pstride = npu.spm_rows();
  return isa::encode({dma, {}, 0});
}

/// Pixels as far apart as the work has them, with NaN between them.
inline std::vector<std::uint16_t> apart(const std::vector<std::uint16_t> &pixels, const DepthwiseWork &work) {
  constexpr std::uint16_t kNan = 0xFFFF;
  const std::size_t channels = work.conv.channels, pitch = work.pixel_pitch();
  std::vector<std::uint16_t> all(pixels.size() / channels * pitch, kNan);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    all[i / channels * pitch + i % channels] = pixels[i];
  return all;
}

/// The first difference, or hazard; empty if there is none. Y and dX leave as bf16, and have no gaps here.
inline std::string depthwise_difference(const Machine &npu, const DepthwiseWork &work, Dice &dice,
                                        const RunStream &run = run_functional) {
  DepthwiseSection section = depthwise_section(work, npu);
  if (section.commands.empty()) return "it does not fit";
  section.commands.insert(section.commands.begin(), dirty_scratchpad(npu));
  if (std::string hazard = first_hazard(npu, section.commands); !hazard.empty()) return hazard;
  if (!timing::run(npu, section.commands).ok()) return "it does not end on the timing model";
  DepthwiseData data = depthwise_data(work, dice);
  const bool fp32 = work.product == DepthwiseProduct::kDW;
  if (fp32) {
    data.a = apart(data.a, work);
    data.b = apart(data.b, work);
  }
  DeviceMemory memory(section.end + section.commands.size() * isa::kCommandBytes);
  const std::vector<std::uint8_t> poison(section.end, 0xA5);
  memory.write(0, poison.data(), poison.size());
  memory.write(section.addresses[0], data.a.data(), data.a.size() * 2);
  memory.write(section.addresses[1], data.b.data(), data.b.size() * 2);
  if (!run(npu, memory, section.commands, section.end)) return "the stream does not end well";
  for (std::size_t i = 0; i < data.result.size(); ++i) {
    std::uint32_t got = 0;
    memory.read(section.addresses[2] + i * (fp32 ? 4 : 2), &got, fp32 ? 4 : 2);
    if (!fp32) got <<= 16U;
    if (got != data.result[i]) return fmt::format("element {} is {:08X}, direct {:08X}", i, got, data.result[i]);
  }
  return {};
}

} // namespace gradweave::compiler
