// Depthwise convolutions in sections of their own: bits of the direct convolution, no hazard, and what they move.
#include "compiler/depthwise/image_layout.hpp"
#include "compiler/depthwise/weights/weight_layout.hpp"
#include "compiler/ir/macro_banks.hpp"
#include "tests/compiler/depthwise/depthwise_run.hpp"
#include "tests/compiler/depthwise/needed_waits.hpp"

#include <cstdio>

namespace gradweave::compiler {
namespace {

class Depthwise : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = vector_machine(GetParam());
};

TEST_P(Depthwise, RandomOnesGiveTheBitsOfTheDirectConvolution) {
  std::size_t compared = 0, refused = 0, kept_rows = 0, kept_cols = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    const Convolution conv = random_depthwise(dice);
    for (const DepthwiseProduct product : kDepthwiseProducts) {
      const DepthwiseWork work{product, conv, false};
      if (!has_depthwise_pieces(work, npu_)) {
        ++refused;
        continue;
      }
      ++compared;
      ASSERT_EQ(depthwise_difference(npu_, work, dice), "")
          << "seed " << seed << ", product " << static_cast<int>(product) << ": " << conv;
      if (product == DepthwiseProduct::kDW) continue;
      const auto layout = depthwise::choose_image_layout(work, npu_);
      kept_rows += layout->kept_rows > 0 ? 1 : 0;
      kept_cols += layout->kept_cols > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 8 * refused);
  if (npu_.name == "small") return; // whose places hold whole images
  EXPECT_GT(kept_rows, 0U);
  EXPECT_GT(kept_cols, 0U);
}

/// Taps of dW side by side, with other pixels between those of the image, and with rows of the kernel, of images and of
/// results of all sizes.
TEST_P(Depthwise, WeightGradientsOfTapsSideBySideGiveTheBitsOfTheDirectConvolution) {
  struct Seen {
    std::size_t side_by_side = 0, apart = 0, in_turn = 0, strided = 0, edges = 0, no_edges = 0, passes = 0;
  } seen;
  for (std::uint64_t seed = 2001; seed <= 2300; ++seed) {
    Dice dice(seed);
    DepthwiseWork work{DepthwiseProduct::kDW, random_depthwise(dice), false};
    Convolution &conv = work.conv;
    conv.groups = conv.channels = conv.out_channels = dice.between(1, std::max(1U, npu_.rows / 2));
    if (dice.chance(0.5)) conv.pad_left = conv.pad_right = 0;
    if (dice.chance(0.3)) work.pitch = conv.channels + dice.between(1, 3);
    if (conv.width + conv.pad_left + conv.pad_right <= (conv.kernel_width - 1) * conv.dilation_width) continue;
    const Machine npu = dice.chance(0.3) ? with_banks(npu_, 1) : npu_;
    const auto layout = depthwise::choose_weight_layout(work, npu);
    if (!layout || layout->side == 1) continue;
    ASSERT_EQ(depthwise_difference(npu, work, dice), "") << "seed " << seed << ": " << conv;
    const bool turns = layout->across > 1;
    ++seen.side_by_side;
    seen.apart += layout->tap_pitch > conv.channels ? 1 : 0;
    seen.in_turn += turns ? 1 : 0;
    seen.strided += turns && conv.stride_width > 1 ? 1 : 0;
    (layout->has_edges() ? seen.edges : seen.no_edges) += 1;
    seen.passes += layout->products < conv.kernel_height * layout->across ? 1 : 0;
  }
  for (const std::size_t count : {seen.side_by_side, seen.apart, seen.in_turn, seen.strided, seen.edges, seen.no_edges})
    EXPECT_GT(count, 0U);
  if (npu_.name != "small") EXPECT_GT(seen.passes, 0U);
}

/// dW of many channels and areas, of so few products an area that one waits for the other, and of taps side by side.
TEST_P(Depthwise, WaitsOfEachPairOfEnginesOfWeightGradientsAreNeeded) {
  std::set<std::uint8_t> semaphores;
  const isa::Command before = dirty_scratchpad(npu_); // that the section has to wait for
  for (const auto &[side, channels] : {std::pair{3U, 200U}, {1U, 200U}, {3U, 2U}}) {
    Convolution conv = small_image_convolution(9, channels, channels);
    conv.groups = channels;
    conv.batch = 3;
    conv.kernel_height = conv.kernel_width = side;
    if (side == 1) conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 0;
    std::vector<isa::Command> commands = depthwise_section({DepthwiseProduct::kDW, conv, false}, npu_).commands;
    commands.insert(commands.begin(), before);
    ASSERT_EQ(first_hazard(npu_, commands), "");
    const WaitedFor found = waited_for(npu_, commands);
    EXPECT_EQ(found.needed, found.all);
    semaphores.insert(found.all.begin(), found.all.end());
  }
  EXPECT_GE(semaphores.size(), 8U);
}

/// Y and dX of areas that hand rows or columns on.
TEST_P(Depthwise, WaitsOfEachPairOfEnginesOfImagesAreNeeded) {
  const auto of_side = [](std::uint32_t side) {
    Convolution conv = small_image_convolution(side, 24, 24);
    conv.groups = 24;
    conv.batch = 3;
    return conv;
  };
  for (const DepthwiseProduct product : {DepthwiseProduct::kY, DepthwiseProduct::kDX}) {
    const auto hands_on = [&](std::uint32_t side) {
      const auto layout = depthwise::choose_image_layout({product, of_side(side), false}, npu_);
      return layout && layout->kept_rows + layout->kept_cols > 0;
    };
    std::uint32_t side = 4;
    while (side < 64 && !hands_on(side))
      ++side;
    ASSERT_LT(side, 64U);
    const DepthwiseWork work{product, of_side(side), false};
    const std::vector<isa::Command> commands = depthwise_section(work, npu_).commands;
    ASSERT_EQ(first_hazard(npu_, commands), "");
    const WaitedFor found = waited_for(npu_, commands);
    EXPECT_EQ(found.needed, found.all);
    EXPECT_GE(found.all.size(), 4U);
  }
}

/// Operands and sums of dW are in macro-banks of their own where there is room.
TEST(WeightLayouts, OfMobileNetKeepTheArrayFed) {
  const Machine npu = load_machine("configs/large.toml");
  Convolution conv = small_image_convolution(56, 128, 128);
  conv.groups = 128;
  const DepthwiseWork work{DepthwiseProduct::kDW, conv, false};
  const auto layout = depthwise::choose_weight_layout(work, npu);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->apart, depthwise::Apart::kAll);
  EXPECT_EQ(layout->block, 128U);
  const timing::RunResult run = timing::run(npu, depthwise_section(work, npu).commands);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.counter(isa::Counter::COMPUTE_BANK), 0U);
  EXPECT_LT(run.cycles(), 9 * 56 * 56 * 5 / 4);
}

/// Of 32 channels the array of 128 rows takes three taps at once, so that memory takes longer: a beat a pixel of dY,
/// and one and a half a line of X.
TEST(WeightLayouts, OfFewChannelsHaveTapsSideBySide) {
  const Machine npu = load_machine("configs/large.toml");
  Convolution conv = small_image_convolution(112, 32, 32);
  conv.groups = 32;
  const DepthwiseWork work{DepthwiseProduct::kDW, conv, false};
  const auto layout = depthwise::choose_weight_layout(work, npu);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->side, 3U);
  const timing::RunResult run = timing::run(npu, depthwise_section(work, npu).commands);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.counter(isa::Counter::COMPUTE_ACTIVE), 3U * 112 * 112);
  EXPECT_LT(run.cycles(), 6U * 112 * 112);
}

/// The depthwise layers of MobileNet: pixels a side, channels, stride, and how many there are.
struct MobileNetLayer {
  std::uint32_t side, channels, stride, count;
};
constexpr MobileNetLayer kMobileNet[] = {{112, 32, 1, 1}, {112, 64, 2, 1}, {56, 128, 1, 1},
                                         {56, 128, 2, 1}, {28, 256, 1, 1}, {28, 256, 2, 1},
                                         {14, 512, 1, 5}, {14, 512, 2, 1}, {7, 1024, 1, 1}};

/// On an NPU, Y, dX and dW: elements of the images that each reads and writes, and beats for all that it moves.
struct Moved {
  std::uint64_t elements = 0, beats = 0;
};
Moved moved_by_mobilenet(const Machine &npu) {
  Moved moved;
  for (const MobileNetLayer &layer : kMobileNet) {
    Convolution conv = small_image_convolution(layer.side, layer.channels, layer.channels);
    conv.groups = layer.channels;
    conv.stride_height = conv.stride_width = layer.stride;
    for (const DepthwiseProduct product : kDepthwiseProducts) {
      const DepthwiseWork work{product, conv, false};
      const timing::RunResult run = timing::run(npu, depthwise_section(work, npu).commands);
      EXPECT_TRUE(run.ok());
      moved.elements += layer.count * (conv.image_size() + std::uint64_t{conv.m()} * conv.channels);
      moved.beats += layer.count * (run.counter(isa::Counter::READ_BEATS) + run.counter(isa::Counter::WRITE_BEATS));
    }
  }
  return moved;
}

TEST(DepthwiseOfMobileNet, MovesAtMostTwiceItsElements) {
  for (const char *name : {"large", "small"}) {
    const Machine npu = load_machine(std::string("configs/") + name + ".toml");
    const Moved moved = moved_by_mobilenet(npu);
    EXPECT_LE(moved.beats * npu.bus_bytes, 2 * 2 * moved.elements) << name; // of two bytes
    const std::string text =
        fmt::format("{}: {} bytes of beats, {} of elements", name, moved.beats * npu.bus_bytes, 2 * moved.elements);
    std::puts(text.c_str());
  }
}

/// In three eighths of the macro-banks: what two areas read is handed on, and not loaded again.
TEST(DepthwiseOfMobileNet, LoadsEachElementOfAnImageOnce) {
  const Machine small = load_machine("configs/small.toml");
  const Machine npu = with_banks(small, small.spm_banks * 3 / 8);
  for (const MobileNetLayer &layer : kMobileNet) {
    if (layer.stride > 1) continue;
    Convolution conv = small_image_convolution(layer.side, layer.channels, layer.channels);
    conv.groups = layer.channels;
    for (const DepthwiseProduct product : {DepthwiseProduct::kY, DepthwiseProduct::kDX}) {
      const DepthwiseSection section = depthwise_section({product, conv, false}, npu);
      ASSERT_FALSE(section.commands.empty());
      std::uint64_t loaded = 0;
      for (const isa::Command &command : section.commands) {
        const isa::Decoded decoded = *isa::decode(command);
        const auto *dma = std::get_if<isa::DmaCommand>(&decoded.op);
        if (dma != nullptr && !dma->store && dma->dram_addr < section.addresses[1])
          loaded += std::uint64_t{dma->rows} * dma->cols;
      }
      EXPECT_EQ(loaded, conv.image_size()) << conv;
    }
  }
}

/// Products on units and scratchpads that have no room are the array's.
TEST(DepthwiseRefusals, WithoutAUnitOrRoomThereAreNoPieces) {
  Convolution conv = small_image_convolution(20, 64, 64);
  conv.groups = 64;
  Machine npu = vector_machine("test8v2");
  for (const DepthwiseProduct product : kDepthwiseProducts) {
    Machine none = npu;
    none.vector_groups = 0;
    EXPECT_FALSE(has_depthwise_pieces({product, conv, false}, none));
  }
  conv.height = conv.width = 400;
  EXPECT_FALSE(has_depthwise_pieces({DepthwiseProduct::kDW, conv, false}, npu));
  conv = small_image_convolution(4, 500, 500);
  conv.groups = 500;
  EXPECT_FALSE(has_depthwise_pieces({DepthwiseProduct::kY, conv, false}, npu));
}

INSTANTIATE_TEST_SUITE_P(Npus, Depthwise, testing::Values("test8v2", "test6x10v1", "test8c2v8", "small"));

} // namespace
} // namespace gradweave::compiler
