// Fused layers: bits of the layers one by one, no hazard, and no intermediate in memory.
#include "compiler/depthwise/fused/choose_layout.hpp"
#include "compiler/depthwise/fused/fused_section.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/compiler/depthwise/needed_waits.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/vector_stream/section_run.hpp"
#include "tests/sw_models/random_convolution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

namespace gradweave::compiler {
namespace {

using depthwise::FusedLayout;

Layer product(std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  Layer layer;
  layer.m = m;
  layer.k = k;
  layer.n = n;
  return layer;
}

/// A depthwise convolution of an image.
Layer convolution_of(Dice &dice, std::uint32_t batch, std::uint32_t height, std::uint32_t width,
                     std::uint32_t channels) {
  Convolution c;
  c.batch = batch;
  c.height = height;
  c.width = width;
  c.channels = c.out_channels = c.groups = channels;
  c.kernel_height = std::min(height, dice.between(1, 4));
  c.kernel_width = std::min(width, dice.between(1, c.kernel_height == 4 ? 3 : 4));
  c.stride_height = dice.between(1, 3);
  c.stride_width = dice.between(1, 2);
  c.pad_top = dice.between(0, 2);
  c.pad_bottom = dice.between(0, 2);
  c.pad_left = dice.between(0, 2);
  c.pad_right = dice.between(0, 2);
  if (2 * (c.kernel_width - 1) < width) c.dilation_width = dice.between(1, 2);
  Layer layer = image_layer(c);
  layer.vector = true;
  return layer;
}

/// One or two depthwise convolutions, mostly behind and before products.
std::vector<Layer> random_chain(Dice &dice) {
  const std::uint32_t batch = dice.between(1, 2);
  std::uint32_t height = dice.between(3, 12), width = dice.between(3, 12), channels = dice.between(1, 20);
  std::vector<Layer> layers;
  const auto multiply = [&] {
    const std::uint32_t next = dice.between(1, 20);
    layers.push_back(product(batch * height * width, channels, next));
    channels = next;
  };
  const std::uint32_t deep = dice.between(1, 2);
  for (std::uint32_t i = 0; i < deep; ++i) {
    if (i > 0 || dice.chance(0.7)) multiply();
    layers.push_back(convolution_of(dice, batch, height, width, channels));
    height = layers.back().conv->out_height();
    width = layers.back().conv->out_width();
    if (i + 1 < deep || dice.chance(0.7)) multiply();
  }
  return layers;
}

/// Data of a chain, and what its layers give one after the other.
struct ChainData {
  std::vector<std::uint16_t> x, y;
  std::vector<std::vector<std::uint16_t>> weights;
};

ChainData chain_data(const std::vector<Layer> &layers, Dice &dice) {
  const auto values = [mix = random_mix(dice), &dice](std::size_t count) {
    std::vector<std::uint16_t> all(count);
    for (std::uint16_t &value : all)
      value = random_bf16(mix, dice);
    return all;
  };
  ChainData data;
  const Layer &first = layers.front();
  data.x = values(first.vector ? first.conv->image_size() : std::size_t{first.m} * first.k);
  data.y = data.x;
  for (const Layer &l : layers) {
    data.weights.push_back(values(std::size_t{l.groups} * l.k * l.n));
    data.y = l.vector ? direct::forward(*l.conv, data.y.data(), data.weights.back().data())
                      : golden::forward(data.y.data(), data.weights.back().data(), l.m, l.k, l.n);
  }
  return data;
}

/// A matrix in memory, rows at whole beats.
struct Matrix {
  FusedMatrix at;
  std::uint64_t rows = 0, cols = 0;
};

class FusedRun {
public:
  FusedRun(const Machine &npu, const std::vector<Layer> &layers) : npu_(npu), layers_(layers) {
    const Layer &first = layers.front(), &last = layers.back();
    const Convolution conv = first.vector ? *first.conv : Convolution();
    x_ = matrix(first.vector ? std::uint64_t{conv.batch} * conv.height * conv.width : first.m,
                first.vector ? conv.channels : first.k, false);
    for (const Layer &l : layers)
      weights_.push_back(matrix(std::uint64_t{l.groups} * l.k, l.n, l.vector));
    y_ = matrix(last.m, std::uint64_t{last.groups} * last.n, false);
  }

  std::vector<isa::Command> commands(const FusedLayout &layout) const {
    FusedTensors tensors{x_.at, {}, y_.at};
    for (const Matrix &w : weights_)
      tensors.weights.push_back(w.at);
    std::vector<isa::Command> all;
    for (const FusedPiece &piece : fused_pieces(layers_, layout, tensors, npu_, {0, 0})) {
      EXPECT_EQ(piece.commands.size(), piece.uses.size());
      all.insert(all.end(), piece.commands.begin(), piece.commands.end());
    }
    return all;
  }

  /// The first hazard or difference; empty if there is none.
  std::string difference(const std::vector<isa::Command> &commands, Dice &dice) const {
    if (std::string hazard = first_hazard(npu_, commands); !hazard.empty()) return hazard;
    if (!timing::run(npu_, commands).ok()) return "it does not end on the timing model";
    const ChainData data = chain_data(layers_, dice);
    DeviceMemory memory(end_ + commands.size() * isa::kCommandBytes);
    const std::vector<std::uint8_t> poison(end_, 0xA5);
    memory.write(0, poison.data(), poison.size());
    put(memory, x_, data.x);
    for (std::size_t i = 0; i < weights_.size(); ++i)
      put(memory, weights_[i], data.weights[i]);
    if (!run_functional(npu_, memory, commands, end_)) return "the stream does not end well";
    for (std::uint64_t i = 0; i < data.y.size(); ++i) {
      std::uint16_t got = 0;
      memory.read(y_.at.address + i / y_.cols * y_.at.pitch + i % y_.cols * 2, &got, 2);
      if (got != data.y[i]) return fmt::format("element {} is {:04X}, one by one {:04X}", i, got, data.y[i]);
    }
    return {};
  }

private:
  Matrix matrix(std::uint64_t rows, std::uint64_t cols, bool dense) {
    const auto pitch = static_cast<std::uint32_t>(dense ? cols * 2 : round_up(cols * 2, npu_.bus_bytes));
    const Matrix m{{end_, pitch}, rows, cols};
    end_ = round_up(end_ + rows * pitch, 256);
    return m;
  }
  static void put(DeviceMemory &memory, const Matrix &m, const std::vector<std::uint16_t> &values) {
    for (std::uint64_t row = 0; row < m.rows; ++row)
      memory.write(m.at.address + row * m.at.pitch, &values[row * m.cols], m.cols * 2);
  }

  const Machine &npu_;
  const std::vector<Layer> &layers_;
  std::uint64_t end_ = 0x1000;
  Matrix x_, y_;
  std::vector<Matrix> weights_;
};

class Fused : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = vector_machine(GetParam());
};

TEST_P(Fused, RandomChainsHaveTheBitsOfTheirLayersOneByOne) {
  std::size_t compared = 0, in_areas = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Dice dice(seed);
    const std::vector<Layer> layers = random_chain(dice);
    if (layers.size() < 2 || !std::all_of(layers.begin(), layers.end(), depthwise::can_be_fused)) continue;
    const std::optional<FusedLayout> layout = depthwise::choose_fused_layout(layers, npu_);
    if (!layout) continue;
    ++compared;
    in_areas += layout->areas() > 1 ? 1 : 0;
    const FusedRun run(npu_, layers);
    ASSERT_EQ(run.difference(run.commands(*layout), dice), "")
        << "seed " << seed << ", " << layout->areas() << " areas";
  }
  EXPECT_GT(compared, 50U);
  std::puts(fmt::format("{}: {} chains, {} of them in several areas", npu_.name, compared, in_areas).c_str());
}

/// What a chain moves: its image, its weights and its result.
TEST_P(Fused, NoIntermediateIsInMemory) {
  Dice dice(5);
  Convolution conv;
  conv.height = conv.width = 6;
  conv.channels = conv.out_channels = conv.groups = 9;
  conv.kernel_height = conv.kernel_width = 3;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  Layer deep = image_layer(conv);
  deep.vector = true;
  const std::vector<Layer> layers{product(36, 4, 9), deep, product(36, 9, 5)};
  const std::optional<FusedLayout> layout = depthwise::choose_fused_layout(layers, npu_);
  ASSERT_TRUE(layout);
  const FusedRun run(npu_, layers);
  std::uint64_t loaded = 0, stored = 0;
  for (const isa::Command &command : run.commands(*layout)) {
    const isa::Decoded d = *isa::decode(command);
    if (const auto *dma = std::get_if<isa::DmaCommand>(&d.op)) (dma->store ? stored : loaded) += dma->rows * dma->cols;
  }
  EXPECT_EQ(stored, 36U * 5);
  const std::uint64_t halo = 2 * (layout->areas() - 1) * 6 * 4; // rows that two areas need
  EXPECT_EQ(loaded, 36U * 4 + halo + 4 * 9 + 9 * 9 + 9 * 5);
}

/// Without a wait of a pair of engines, and the post that it waited for, a hazard is seen. Not each wait is needed:
/// some follow from others.
TEST_P(Fused, WaitsOfEachPairOfEnginesAreNeeded) {
  Dice dice(11);
  std::vector<Layer> layers;
  std::optional<FusedLayout> layout;
  while (!layout || layout->areas() < 3) {
    layers = random_chain(dice);
    if (layers.size() >= 3 && !layers.front().vector && !layers.back().vector &&
        std::all_of(layers.begin(), layers.end(), depthwise::can_be_fused))
      layout = depthwise::choose_fused_layout(layers, npu_);
  }
  const std::vector<isa::Command> commands = FusedRun(npu_, layers).commands(*layout);
  ASSERT_EQ(first_hazard(npu_, commands), "");
  const WaitedFor semaphores = waited_for(npu_, commands);
  EXPECT_EQ(semaphores.needed, semaphores.all);
}

INSTANTIATE_TEST_SUITE_P(Npus, Fused, testing::Values("test8v2", "test6x10v1", "small"));

} // namespace
} // namespace gradweave::compiler
