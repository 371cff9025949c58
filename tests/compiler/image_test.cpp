// How products cut layers that read images, against loops over taps and pixels.
#include "compiler/cost/bounds.hpp"
#include "compiler/cost/image_choice.hpp"
#include "compiler/ir/cut.hpp"
#include "compiler/ir/grid/tile_rows.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/verify/operands/conv_walk.hpp"
#include "compiler/verify/operands/image_operands.hpp"
#include "graph/layer_fingerprint.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/sw_models/random_convolution.hpp"

#include <gtest/gtest.h>

namespace gradweave::compiler {
namespace {

TEST(Images, RandomConvolutionsCanBeRead) {
  Dice dice(1);
  for (int i = 0; i < 1000; ++i) {
    const Convolution conv = random_image_convolution(dice);
    EXPECT_TRUE(can_read_image(conv)) << conv;
    Convolution other = conv;
    other.stride_width = 2;
    EXPECT_FALSE(can_read_image(other)) << "a stride a side";
    other = conv;
    other.pad_top = (conv.kernel_height - 1) * conv.dilation_height + 1;
    EXPECT_FALSE(can_read_image(other)) << "rows of the result that read padding only";
    const Convolution strided = random_strided_convolution(dice);
    EXPECT_TRUE(can_read_image(strided)) << strided << ": " << unreadable_image(strided);
  }
}

TEST(Images, PixelsThatNoTapReadsAreNoPhase) {
  Convolution c = small_image_convolution(8, 4, 4);
  c.stride_height = c.stride_width = 2;
  EXPECT_TRUE(can_read_image(c));
  for (const auto &change : std::vector<void (*)(Convolution &)>{
           [](Convolution &x) { x.kernel_height = x.kernel_width = 1, x.pad_top = x.pad_left = 0; },
           [](Convolution &x) { x.dilation_width = 2; }, [](Convolution &x) { x.stride_height = x.stride_width = 4; },
           [](Convolution &x) { x.height = 1; }}) {
    Convolution other = c;
    change(other);
    EXPECT_FALSE(can_read_image(other)) << other;
  }
}

/// dW has the channels of a tap as rows: with few of them im2col fills the array better.
TEST(Images, LayersOfFewChannelsKeepTheirMatrices) {
  const Machine npu = load_machine("configs/test8.toml");
  Convolution c = small_image_convolution(8, 0, 16);
  std::vector<Layer> layers;
  for (const std::uint32_t channels : {3U, 8U, 16U}) {
    c.channels = channels;
    layers.push_back(image_layer(c));
    layers.back().image = false;
  }
  layers.push_back(layers.back());
  layers.back().conv->groups = 16;
  layers.back().groups = 16;
  layers.back().k /= 16;
  layers.back().n /= 16;
  layers.push_back(layers[1]);
  layers.back().conv->stride_height = 2; // and not its width
  EXPECT_EQ(read_images(layers, Pass::kBoth, npu), 2U);
  EXPECT_FALSE(layers[0].image);
  EXPECT_TRUE(layers[1].image && layers[2].image);
  EXPECT_FALSE(layers[3].image) << "depthwise";
  EXPECT_FALSE(layers[4].image) << "a stride";
}

/// The first convolution of a network, if it has a stride.
TEST(Images, OfAFewChannelsAndWithAStrideArePacked) {
  const Machine npu = load_machine("configs/small.toml"); // 45 lanes
  Convolution c = small_image_convolution(32, 3, 64);
  c.stride_height = c.stride_width = 2;
  const auto read = [&](const Convolution &conv, Pass pass, void (*change)(Layer &)) {
    std::vector<Layer> layers{image_layer(conv)};
    layers.front().image = layers.front().dx = false;
    change(layers.front());
    read_images(layers, pass, npu);
    return layers.front();
  };
  const auto as_it_is = [](Layer &) {};
  const Layer packed = read(c, Pass::kForward, as_it_is);
  EXPECT_TRUE(packed.image && packed.packed);
  const ImageForm form = image_form(packed);
  EXPECT_TRUE(form.width == 16 && form.height == 16 && form.phases == 1 && form.cols == 12);
  EXPECT_FALSE(read(c, Pass::kForward, [](Layer &l) { l.dx = true; }).packed);
  EXPECT_FALSE(read(c, Pass::kForward, [](Layer &l) { l.input = "before"; }).packed) << "who computes it does not pack";
  EXPECT_FALSE(read(c, Pass::kForward, [](Layer &l) { l.x_of = "twin"; }).packed);
  EXPECT_FALSE(read(c, Pass::kBoth, as_it_is).packed) << "dW has three of the array's rows";
  for (const auto &change : std::vector<void (*)(Convolution &)>{
           [](Convolution &x) { x.channels = 12; }, [](Convolution &x) { x.groups = 3, x.channels = 3; },
           [](Convolution &x) { x.stride_height = x.stride_width = 1; }}) {
    Convolution other = c;
    change(other);
    EXPECT_FALSE(read(other, Pass::kForward, as_it_is).packed) << other;
  }
}

TEST(Images, AFirstLayerMayReadThemForYAlone) {
  const Machine npu = load_machine("configs/small.toml");
  Layer stem = image_layer({4, 224, 224, 3, 64, 7, 7, 2, 2, 3, 3, 3, 3, 1, 1, 1});
  stem.image = stem.dx = false;
  std::vector<Layer> layers{stem, stem, stem, stem};
  layers[1].x_of = "another";
  layers[2].input = "another";
  EXPECT_EQ(read_images(layers, Pass::kBoth, npu), 0U);
  EXPECT_TRUE(layers[0].forward_image && layers[2].forward_image);
  EXPECT_FALSE(layers[1].forward_image) << "another reads X, too";
  layers[1].x_of.clear();
  const std::vector<Layer> two = split_products(layers[0], npu);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_TRUE(two[0].image && !two[1].image);
  EXPECT_TRUE(takes_part(two[0], Pass::kForward) && !takes_part(two[0], Pass::kBackward));
  EXPECT_TRUE(takes_part(two[1], Pass::kBackward) && !takes_part(two[1], Pass::kForward));
  EXPECT_NE(shape_fingerprint(two[1]).hex(), shape_fingerprint(layers[1]).hex());
  EXPECT_EQ(split_products(layers[1], npu).size(), 1U);
  const std::uint64_t bound = layer_bound(two[0], Pass::kBoth, npu) + layer_bound(two[1], Pass::kBoth, npu);
  EXPECT_LT(bound, layer_bound(stem, Pass::kBoth, npu));
  EXPECT_LT(lower_bounds(two, Pass::kBoth, make_layout(two, Pass::kBoth, npu), npu).run_cycles, bound);
  // Under one pass the layer has its choice whole.
  EXPECT_EQ(read_images(layers, Pass::kForward, npu), 4U);
  EXPECT_FALSE(layers[0].forward_image);
}

/// 3 x 3 of GoogLeNet, whose gradients leave rows of the array idle where a tap of dW has few channels.
TEST(Images, ALayerWithAGradientMayReadThemForYAlone) {
  const Machine npu = load_machine("configs/small.toml");
  const auto read = [&](std::uint32_t side, std::uint32_t channels, std::uint32_t out) {
    Convolution conv = small_image_convolution(side, channels, out);
    conv.batch = 4;
    std::vector<Layer> layers{image_layer(conv)};
    layers.front().image = false;
    read_images(layers, Pass::kBoth, npu);
    return layers.front();
  };
  const Layer faster = read(56, 64, 192), less = read(14, 144, 288), whole = read(28, 128, 192);
  const Layer weights = read(13, 1024, 512);
  EXPECT_TRUE(faster.forward_image && !faster.image) << "whose bound is lower by it";
  EXPECT_TRUE(less.forward_image && !less.image) << "which moves less by it, in as many cycles";
  EXPECT_TRUE(whole.image && !whole.forward_image) << "whose gradients take hardly longer over the image";
  EXPECT_TRUE(weights.forward_image && !weights.image) << "which moves W for the most part, in either form";
  for (const Layer &layer : {faster, less}) {
    const std::vector<Layer> two = split_products(layer, npu);
    ASSERT_EQ(two.size(), 2U);
    EXPECT_FALSE(is_computed(two[0], Tensor::kDX, Pass::kBoth));
    EXPECT_TRUE(is_computed(two[1], Tensor::kDX, Pass::kBoth) && is_computed(two[1], Tensor::kDW, Pass::kBoth));
    // W is one tensor, which may stay from the one pass to the other; X and its matrix are two.
    const Layout layout = make_layout(two, Pass::kBoth, npu);
    EXPECT_EQ(layout.place(0, Tensor::kW), layout.place(1, Tensor::kW));
    EXPECT_NE(layout.place(0, Tensor::kX), layout.place(1, Tensor::kX));
    const auto traffic = [&](const std::vector<Layer> &layers, Pass pass) {
      return lower_bounds(layers, pass, make_layout(layers, pass, npu), npu).traffic_cycles;
    };
    const std::uint64_t apart = traffic({two[0]}, Pass::kForward) + traffic({two[1]}, Pass::kBackward);
    const std::uint64_t bytes = 2 * std::uint64_t{layer.k} * layer.n;
    EXPECT_LT(traffic(two, Pass::kBoth), apart) << "all of W, or what the scratchpad holds of it, stays";
    EXPECT_GE(traffic(two, Pass::kBoth) + bytes * npu.memory.bytes_den / npu.memory.bytes_num + 2, apart);
  }
  Machine tiny = npu;
  tiny.spm_bytes = 1U << 14U;
  const std::vector<Layer> two = split_products(faster, npu);
  const Layout layout = make_layout(two, Pass::kBoth, tiny);
  const std::uint64_t once = lower_bounds(two, Pass::kBoth, layout, npu).traffic_cycles;
  EXPECT_LT(once, lower_bounds(two, Pass::kBoth, layout, tiny).traffic_cycles) << "W comes twice where it cannot stay";
}

TEST(Images, AreLeftToIm2colWhereNotEvenRowsOfThemFitTheScratchpad) {
  Machine npu = load_machine("configs/test6x10.toml");
  std::vector<Layer> layers{image_layer({5, 4, 12, 2, 8, 11, 1, 1, 1, 27, 3, 0, 0, 3, 1, 1})};
  EXPECT_EQ(read_images(layers, Pass::kBoth, npu), 0U);
  npu.spm_bytes *= 4;
  EXPECT_EQ(read_images(layers, Pass::kBoth, npu), 1U);
}

TEST(Images, SizesBeyondTheFieldsOfCommandsAreNot) {
  const Convolution c = small_image_convolution(8, 4, 4);
  EXPECT_TRUE(can_read_image(c));
  for (const auto &[change, name] : std::vector<std::pair<void (*)(Convolution &), const char *>>{
           {[](Convolution &x) { x.width = 2048; }, "GRID_W"},
           {[](Convolution &x) { x.height = 1024; }, "GRID_H"},
           {[](Convolution &x) {
              x.kernel_width = 17;
              x.pad_left = x.pad_right = 8;
            },
            "TAPS_X"},
           {[](Convolution &x) {
              x.dilation_height = 70;
              x.pad_top = x.pad_bottom = 70;
              x.height = 100;
            },
            "OFF_Y"},
           {[](Convolution &x) { x.channels = 8192; }, "rows of B"}}) {
    Convolution beyond = c;
    change(beyond);
    EXPECT_FALSE(can_read_image(beyond)) << name;
  }
}

/// Ranges follow one another, cover all, and are taps that one command can take.
TEST(Images, RangesOfTapsCoverAllOfThem) {
  Dice dice(2);
  for (int i = 0; i < 2000; ++i) {
    Layer layer = image_layer(random_image_convolution(dice));
    layer.channel_blocks = i % 4 < 2;
    const std::uint32_t channels = tap_channels(layer, i % 2 == 0 ? Tensor::kY : Tensor::kDX);
    const std::uint32_t all = channels * taps_of(layer), side = dice.between(1, all);
    const bool blocked = takes_blocks(layer, side, channels);
    std::uint32_t at = 0;
    for (const IndexRange &range : cut_taps(layer, {0, all}, channels, side)) {
      EXPECT_EQ(range.first, at);
      EXPECT_LE(range.size, blocked ? side * taps_of(layer) : side);
      at = range.end();
      const TapRange taps = tap_range(layer, range, channels, blocked);
      EXPECT_EQ(taps.count() * taps.channels, range.size);
      if (blocked) continue; // channels with all taps
      std::string problem;
      const Taps same = taps_of_range(*layer.conv, range.first, range.size, channels, problem);
      EXPECT_EQ(problem, "") << *layer.conv << " side " << side;
      EXPECT_TRUE(same.row == taps.row && same.col == taps.col && same.rows == taps.rows && same.cols == taps.cols &&
                  same.channel == taps.channel && same.channels == taps.channels);
    }
    EXPECT_EQ(at, all);
  }
}

/// Any rows of the grid, against all pixels of it and all taps: what a tap reads is in the tile, and where it moves to
/// in the tile or its guards.
TEST(Images, LinesReadHaveAllPixelsOfAllTaps) {
  Dice dice(3);
  for (int i = 0; i < 500; ++i) {
    const Convolution conv = random_image_convolution(dice);
    const Layer layer = image_layer(conv);
    const std::uint32_t rows = conv.batch * conv.height, first = dice.between(0, rows - 1);
    const std::uint32_t count = dice.between(1, rows - first);
    for (const Tensor result : {Tensor::kY, Tensor::kDX}) {
      const IndexRange read = lines_read(layer, result, {first, count});
      const Rect tile = pixel_rect(layer, contraction_of(result).a, read, {0, 1});
      const Guard guard = guard_of(layer, result, tile, {first, count});
      for (std::uint32_t row = first; row < first + count; ++row)
        for (std::uint32_t tap = 0; tap < conv.kernel_height; ++tap) {
          const std::int64_t move = std::int64_t{tap} * conv.dilation_height - conv.pad_top;
          const std::int64_t y = row % conv.height + (result == Tensor::kDX ? -move : move);
          const std::int64_t line = (std::int64_t{row} / conv.height * conv.height + y) * conv.width;
          if (y >= 0 && y < conv.height) {
            EXPECT_TRUE(line >= read.first && line + conv.width <= read.end()) << conv << " row " << row;
          }
          const std::int64_t moved = (row + (result == Tensor::kDX ? -move : move)) * conv.width;
          const std::int64_t left =
              result == Tensor::kDX ? (conv.kernel_width - 1) * conv.dilation_width - conv.pad_left : conv.pad_left;
          EXPECT_GE(moved - left, std::int64_t{read.first} - guard.before) << conv;
        }
    }
  }
}

/// Of any stride and padding: every pixel that the definition has a line of a result read is in the tile of its rows,
/// and its phases are all pixels of dX, each once.
TEST(Images, RowsOfAGridHaveTheirPixels) {
  Dice dice(4);
  for (int i = 0; i < 500; ++i) {
    const Convolution conv = random_strided_convolution(dice);
    const Layer layer = image_layer(conv);
    for (const Tensor result : {Tensor::kY, Tensor::kDX}) {
      std::uint32_t pixels = 0;
      const std::vector<IndexRange> ranges =
          ranges_along(layer, result, Dim::kM, dice.between(1, whole(layer).m_end), whole(layer));
      for (const IndexRange &range : ranges) {
        pixels += range.size;
        const IndexRange read = lines_read(layer, result, rows_of(layer, result, range));
        const bool turned = result == Tensor::kDX;
        const Rect rect = turned ? gradient_rect(layer, range, {0, 1}) : pixel_rect(layer, result, range, {0, 1});
        std::uint32_t first = 0, end = 0;
        tensor_rows(rect, first, end);
        const Lines lines = lines_from(layer, turned, first);
        EXPECT_EQ(lines_of(layer, result, range), tile_rows(rect)) << conv;
        EXPECT_EQ(lines.pixels(tile_rows(rect)), range.size) << conv;
        for (std::uint32_t line = 0; line < tile_rows(rect); ++line)
          for (std::uint32_t tap = 0; lines.pixel(line) && tap < taps_of(layer); ++tap) {
            const TapPixel at =
                tap_pixel(layer, turned, lines, lines.at(line), tap / conv.kernel_width, tap % conv.kernel_width);
            EXPECT_TRUE(!at.inside || (at.row >= read.first && at.row < read.end())) << conv;
            const Lines::At place = lines.at(line);
            const TapRow row =
                tap_row(layer, turned, lines, place, tap / conv.kernel_width, tap % conv.kernel_width, lines.width);
            EXPECT_EQ(row.pixel.meets, at.meets) << conv;
            EXPECT_EQ(place.x >= row.inside.first && place.x < row.inside.end, at.inside) << conv;
            if (at.inside) {
              EXPECT_EQ(row.pixel.row + (place.x - row.inside.first) * row.step, at.row) << conv;
            }
          }
      }
      EXPECT_EQ(pixels, extent_of(layer, result, Dim::kM)) << conv;
    }
  }
}

/// Of any dimension and side, the size of the first range and the number of ranges without the ranges.
TEST(Images, RangesAreCountedAsTheyAreCut) {
  Dice dice(7);
  for (int i = 0; i < 500; ++i) {
    const Convolution conv = i % 2 == 0 ? random_strided_convolution(dice) : random_image_convolution(dice);
    Layer layer = image_layer(conv);
    layer.image = i % 5 != 0;
    for (const Tensor result : {Tensor::kY, Tensor::kDX, Tensor::kDW})
      for (const Dim dim : {Dim::kM, Dim::kK, Dim::kN}) {
        const std::uint32_t side = dice.between(1, extent_of(layer, result, dim) + 2);
        const std::vector<IndexRange> ranges = ranges_along(layer, result, dim, side, whole(layer));
        EXPECT_EQ(range_count(layer, result, dim, side), ranges.size()) << conv << " side " << side;
        EXPECT_EQ(longest_range(layer, result, dim, side), ranges.front().size) << conv << " side " << side;
      }
  }
}

/// The runs of a tile move each of its pixels once, and to the row that the grid has for it.
TEST(Images, RunsOfATileAreItsPixels) {
  Dice dice(5);
  for (int i = 0; i < 500; ++i) {
    const Convolution conv = random_strided_convolution(dice);
    const Layer layer = image_layer(conv);
    for (const IndexRange &range : ranges_along(layer, Tensor::kDX, Dim::kM, whole(layer).m_end, whole(layer))) {
      const Rect rect = gradient_rect(layer, range, {0, 1});
      const std::vector<RowRun> runs = row_runs(rect, 0);
      EXPECT_EQ(runs.size(), run_count(rect)) << conv;
      const Lines lines = lines_from(layer, true, runs.front().row);
      std::uint32_t moved = 0;
      for (const RowRun &run : runs)
        for (std::uint32_t row = 0; row < run.rows; ++row, ++moved)
          EXPECT_EQ(lines.pixel(run.at + row), run.row + row * run.step) << conv;
      EXPECT_EQ(moved, rect.rows);
    }
  }
}

} // namespace
} // namespace gradweave::compiler
