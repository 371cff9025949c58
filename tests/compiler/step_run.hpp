// Runs layers that were compiled into one stream on the functional model, and compares with the golden products.
#pragma once

#include "tests/compiler/layer_run.hpp"

#include <functional>

namespace gradweave::compiler {

/// What a convolution without groups multiplies, by im2col: for each pixel of Y the taps, each with all channels.
inline std::vector<std::uint16_t> unfolded(const Convolution &c, const std::vector<std::uint16_t> &image) {
  std::vector<std::uint16_t> matrix;
  for (std::uint32_t pixel = 0; pixel < c.m(); ++pixel)
    for (std::uint32_t tap = 0; tap < c.kernel_height * c.kernel_width; ++tap) {
      const std::uint32_t own = pixel % (c.out_height() * c.out_width()), b = pixel / (c.out_height() * c.out_width());
      const std::int64_t y = std::int64_t{own / c.out_width()} * c.stride_height +
                             std::int64_t{tap / c.kernel_width} * c.dilation_height - c.pad_top;
      const std::int64_t x = std::int64_t{own % c.out_width()} * c.stride_width +
                             std::int64_t{tap % c.kernel_width} * c.dilation_width - c.pad_left;
      const bool inside = y >= 0 && x >= 0 && y < c.height && x < c.width;
      for (std::uint32_t channel = 0; channel < c.channels; ++channel)
        matrix.push_back(
            inside ? image[((b * c.height + static_cast<std::size_t>(y)) * c.width + static_cast<std::size_t>(x)) *
                               c.channels +
                           channel]
                   : std::uint16_t{0});
    }
  return matrix;
}

/// Bits of each tensor in memory, dense; inputs are random, all else is golden. Layers that read images run forward.
inline std::vector<Bits> golden_tensors(const Compiled &step, std::uint64_t seed) {
  std::vector<Bits> bits(step.layout.tensors.size());
  std::mt19937_64 rng(seed);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const TensorBinding &b = step.layout.tensors[i];
    if (!b.input) continue;
    std::vector<std::uint16_t> values(std::size_t{b.rows} * b.cols);
    for (std::uint16_t &v : values) {
      v = static_cast<std::uint16_t>(rng());
      if (seed % 2 == 0) v = static_cast<std::uint16_t>((v & 0x80FFU) | ((120U + (v >> 8U & 7U)) << 7U));
    }
    bits[i] = bits_of(values);
  }
  const auto values = [&](std::uint32_t layer, Tensor t) {
    const std::int32_t place = step.layout.place(layer, t);
    const Bits &from = place == Layout::kNone ? Bits{} : bits[static_cast<std::size_t>(place)];
    std::vector<std::uint16_t> v(from.size() / 2);
    if (!from.empty()) std::memcpy(v.data(), from.data(), from.size());
    return v;
  };
  const auto count = static_cast<std::uint32_t>(step.layers.size());
  const auto compute = [&](std::uint32_t i, Pass pass) {
    const Layer &l = step.layers[i];
    LayerOperands o{values(i, Tensor::kX), values(i, Tensor::kW), values(i, Tensor::kDY)};
    if (l.image) o.x = unfolded(*l.conv, o.x);
    o.w.resize(std::size_t{l.k} * l.groups * l.n);
    o.dy.resize(std::size_t{l.m} * l.groups * l.n);
    for (auto &[tensor, result] : golden_results(l, pass, o, step.reductions[i]))
      bits[static_cast<std::size_t>(step.layout.place(i, tensor))] = result;
  };
  if (step.jobs.pass_of(0) != Pass::kBackward)
    for (std::uint32_t i = 0; i < count; ++i)
      compute(i, Pass::kForward);
  if (step.jobs.pass_of(0) != Pass::kForward)
    for (std::uint32_t i = count; i-- > 0;)
      compute(i, Pass::kBackward);
  return bits;
}

/// Runs commands on a memory that has at `at` room for them; whether they end well.
using RunStep =
    std::function<bool(const Machine &npu, DeviceMemory &, const std::vector<isa::Command> &, std::uint64_t at)>;

inline bool run_functionally(const Machine &npu, DeviceMemory &memory, const std::vector<isa::Command> &stream,
                             std::uint64_t at) {
  for (std::size_t i = 0; i < stream.size(); ++i)
    memory.write(at + i * isa::kCommandBytes, stream[i].words.data(), isa::kCommandBytes);
  Machine sized = npu;
  sized.memory.size_bytes = at + stream.size() * isa::kCommandBytes;
  FunctionalNpu model(sized, memory);
  model.start(at, static_cast<std::uint32_t>(stream.size()));
  return model.run().done;
}

/// Runs the stream, on the functional model if not told otherwise: every result has the golden bits.
inline void expect_golden(const Compiled &step, const Machine &npu, std::uint64_t seed,
                          const RunStep &run = run_functionally) {
  const std::vector<Bits> golden = golden_tensors(step, seed);
  const std::uint64_t stream_at = (step.dram_bytes + 4095) / 4096 * 4096;
  DeviceMemory memory(stream_at + step.stream.size() * isa::kCommandBytes);
  std::memset(memory.data(), 0xA5, stream_at);
  const auto rows = [&](std::size_t i, auto f) {
    const TensorBinding &b = step.layout.tensors[i];
    const std::size_t bytes = std::size_t{b.cols} * (b.fp32 ? 4 : 2);
    for (std::uint32_t r = 0; r < b.rows; ++r)
      f(b.offset + std::uint64_t{r} * b.pitch, r * bytes, bytes);
  };
  for (std::size_t i = 0; i < golden.size(); ++i)
    if (step.layout.tensors[i].input)
      rows(i, [&](std::uint64_t at, std::size_t from, std::size_t bytes) {
        memory.write(at, golden[i].data() + from, bytes);
      });
  ASSERT_TRUE(run(npu, memory, step.stream, stream_at));
  for (std::size_t i = 0; i < golden.size(); ++i) {
    if (!step.layout.tensors[i].result) continue;
    Bits out(golden[i].size());
    rows(i, [&](std::uint64_t at, std::size_t to, std::size_t bytes) { memory.read(at, out.data() + to, bytes); });
    EXPECT_TRUE(out == golden[i]) << to_string(step.layout.tensors[i].tensor) << " of layer "
                                  << step.layout.tensors[i].layer;
  }
}

} // namespace gradweave::compiler
