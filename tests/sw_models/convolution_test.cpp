// im2col, golden products and col2im give the bits of convolutions computed directly (N15 to N17).
#include "tests/support/cases.hpp"
#include "tests/sw_models/bf16_values.hpp"
#include "tests/sw_models/random_convolution.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave {
namespace {

bool same_bits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) { return bits_of_fp32(x) == bits_of_fp32(y); });
}

/// An image of one channel and its kernel.
Convolution plain(std::uint32_t height, std::uint32_t width, std::uint32_t kernel) {
  Convolution c;
  c.height = height;
  c.width = width;
  c.channels = c.out_channels = 1;
  c.kernel_height = c.kernel_width = kernel;
  return c;
}

/// A third of the reductions is cut in up to three places.
std::vector<std::uint32_t> random_cuts(std::uint32_t extent, Dice &dice) {
  std::vector<std::uint32_t> cuts;
  if (dice.chance(2.0 / 3)) return cuts;
  for (std::uint32_t at = 1; at < extent && cuts.size() < 3; ++at)
    if (dice.chance(3.0 / extent)) cuts.push_back(at);
  return cuts;
}

TEST(Convolution, DirectEqualsMatricesBitByBit) {
  const DataMix mixes[] = {{}, {0.1, 0}, {0.05, 0.003}};
  std::size_t grouped = 0, depthwise = 0, padded = 0, strided = 0, dilated = 0, planned = 0;
  for (std::uint64_t seed = 0; seed < test::cases(600); ++seed) {
    Dice dice(seed);
    const Convolution c = random_convolution(dice);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << c);
    const ConvolutionData data = random_data(c, mixes[seed % 3], dice);
    const ConvolutionCuts cuts{random_cuts(c.k(), dice), random_cuts(c.n(), dice), random_cuts(c.m(), dice)};
    const ConvolutionResults golden = golden_products(c, im2col(c, data.image.data()), data, cuts);
    ASSERT_EQ(direct::forward(c, data.image.data(), data.w.data(), cuts.y), golden.y);
    ASSERT_EQ(direct::input_gradient(c, data.dy.data(), data.w.data(), cuts.dx), col2im(c, golden.dx.data()));
    ASSERT_TRUE(same_bits(direct::weight_gradient(c, data.image.data(), data.dy.data(), cuts.dw), golden.dw));
    grouped += c.groups > 1;
    depthwise += c.groups > 1 && c.group_channels() == 1;
    padded += c.pad_top != c.pad_bottom && c.pad_left != c.pad_right;
    strided += c.stride_height > 1 || c.stride_width > 1;
    dilated += c.dilation_height > 1 && c.kernel_height > 1;
    planned += !cuts.y.empty() || !cuts.dx.empty() || !cuts.dw.empty();
  }
  for (const std::size_t count : {grouped, depthwise, padded, strided, dilated, planned})
    EXPECT_GT(count, test::cases(600) / 6);
}

TEST(Convolution, Im2colByHand) {
  Convolution c = plain(2, 3, 2);
  c.pad_left = 1;
  c.channels = 2; // pixel p has the channels 10 p and 10 p + 1
  c.out_channels = 2;
  c.groups = 2;
  const std::vector<std::uint16_t> image = {10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 60, 61};
  // Rows: the three output pixels of the only output row. Columns: group, then kernel row, then kernel column.
  const std::vector<std::uint16_t> x = {0,  10, 0,  40, 0,  11, 0,  41, //
                                        10, 20, 40, 50, 11, 21, 41, 51, //
                                        20, 30, 50, 60, 21, 31, 51, 61};
  EXPECT_EQ(im2col(c, image.data()), x);
}

TEST(Convolution, PackedByHand) {
  Convolution c;
  c.height = 3;
  c.width = 5;
  c.channels = 2;
  c.stride_height = c.stride_width = 2;
  std::vector<std::uint16_t> image(c.image_size());
  for (std::size_t i = 0; i < image.size(); ++i)
    image[i] = static_cast<std::uint16_t>(i);
  const std::vector<std::uint16_t> packed = packed_image(c, image.data());
  constexpr std::uint16_t kNone = 0x7fc0;
  // Blocks of 2 x 2 pixels of two channels, 2 rows of 3; beyond the image there is no pixel.
  EXPECT_EQ(packed, (std::vector<std::uint16_t>{
                        0,     1,     2,     3,     10,    11,    12,    13,    4,     5,     6,     7,
                        14,    15,    16,    17,    8,     9,     kNone, kNone, 18,    19,    kNone, kNone, //
                        20,    21,    22,    23,    kNone, kNone, kNone, kNone, 24,    25,    26,    27,
                        kNone, kNone, kNone, kNone, 28,    29,    kNone, kNone, kNone, kNone, kNone, kNone}));
  EXPECT_EQ(unpacked_image(c, packed.data()), image);
}

TEST(Convolution, Col2imAddsInTheOrderOfTheTapsAndRoundsOnce) {
  // The middle pixel of three is read by tap 0 of output 1 and by tap 1 of output 0.
  Convolution c = plain(1, 3, 1);
  c.kernel_width = 2;
  const auto middle = [&](float tap0, float tap1) {
    const std::vector<std::uint16_t> dx = {kOne, bf16_from_fp32(tap1), bf16_from_fp32(tap0), kOne};
    return col2im(c, dx.data())[1];
  };
  EXPECT_EQ(middle(1, 2), bf16_from_fp32(3));
  EXPECT_EQ(middle(256, 1), bf16_from_fp32(256)) << "257 is halfway in bf16: to even";
  EXPECT_EQ(middle(-0.0F, -0.0F), kMinusZero);
  EXPECT_EQ(middle(-0.0F, 0.0F), 0);
  EXPECT_EQ(middle(INFINITY, -INFINITY), kBf16Nan);
  // Three taps, whose sum in fp32 depends on their order: 2^24 + 1 - 2^24 is 0, 2^24 - 2^24 + 1 is 1.
  Convolution three = plain(1, 5, 1);
  three.kernel_width = 3;
  std::vector<std::uint16_t> dx(9, 0);
  const auto set = [&](std::size_t tap, float value) { dx[(2 - tap) * 3 + tap] = bf16_from_fp32(value); };
  set(0, 16777216);
  set(1, 1);
  set(2, -16777216);
  EXPECT_EQ(col2im(three, dx.data())[2], 0);
  set(1, -16777216);
  set(2, 1);
  EXPECT_EQ(col2im(three, dx.data())[2], kOne);
}

TEST(Convolution, PixelsThatNoTapReadsHaveAGradientOfPlusZero) {
  Convolution c = plain(1, 4, 1);
  c.stride_width = 2;
  const std::vector<std::uint16_t> dy = {kMinusZero, kBf16Inf};
  const std::vector<std::uint16_t> dx = {kMinusZero, 0, kBf16Inf, 0};
  EXPECT_EQ(col2im(c, dy.data()), dx);
  EXPECT_EQ(direct::input_gradient(c, dy.data(), &kOne), (std::vector<std::uint16_t>{0, 0, kBf16Inf, 0}))
      << "the product +0 + -0 x 1 is +0 before col2im sees it (N7)";
}

TEST(Convolution, APointwiseConvolutionIsTheImageItself) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Dice dice(seed);
    Convolution c = random_convolution(dice);
    c.kernel_height = c.kernel_width = c.stride_height = c.stride_width = c.groups = 1;
    c.pad_top = c.pad_bottom = c.pad_left = c.pad_right = 0;
    ASSERT_TRUE(c.is_pointwise());
    std::vector<std::uint16_t> image = random_data(c, {0.2, 0}, dice).image;
    EXPECT_EQ(im2col(c, image.data()), image) << "seed " << seed;
    EXPECT_EQ(col2im(c, image.data()), image) << "seed " << seed;
  }
}

TEST(Convolution, PaddingTakesPartAsPlusZero) {
  Convolution c = plain(1, 1, 3);
  c.pad_top = c.pad_bottom = c.pad_left = c.pad_right = 1;
  std::vector<std::uint16_t> w(9, kOne);
  EXPECT_EQ(direct::forward(c, &kOne, w.data()).front(), kOne);
  w[0] = kBf16Inf; // meets padding: infinity times zero
  EXPECT_EQ(direct::forward(c, &kOne, w.data()).front(), kBf16Nan);
  EXPECT_EQ(is_nan_bits(bits_of_fp32(direct::weight_gradient(c, &kOne, &kBf16Inf)[0])), true);
  EXPECT_EQ(direct::input_gradient(c, &kOne, w.data()).front(), kOne) << "copies that are padding are dropped";
}

/// The comparison of bits would see each of these mistakes. (The order of the taps hardly ever shows in random data, as
/// fp32 adds a few bf16 exactly: it has the test by hand above.)
TEST(Convolution, MistakesShow) {
  std::size_t other_plan = 0, padding_skipped = 0, copies_cut_off = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    const Convolution c = random_convolution(dice);
    const ConvolutionData data = random_data(c, {0.05, 0}, dice);
    const ConvolutionResults golden = golden_products(c, im2col(c, data.image.data()), data);
    const std::vector<std::uint16_t> dx = col2im(c, golden.dx.data());

    if (c.m() > 2)
      other_plan +=
          same_bits(direct::weight_gradient(c, data.image.data(), data.dy.data(), {c.m() / 2}), golden.dw) ? 0 : 1;

    if (c.pad_top + c.pad_left > 0) { // infinite weights: what meets padding is infinity times zero
      ConvolutionData infinite = data;
      std::fill(infinite.w.begin(), infinite.w.end(), kBf16Inf);
      std::fill(infinite.image.begin(), infinite.image.end(), kOne);
      const auto y = direct::forward(c, infinite.image.data(), infinite.w.data());
      padding_skipped += std::count(y.begin(), y.end(), kBf16Nan) > 0 ? 1 : 0;
    }

    std::vector<std::uint16_t> rough = golden.dx;
    for (std::uint16_t &v : rough)
      v &= 0xfffe;
    copies_cut_off += col2im(c, rough.data()) == dx ? 0 : 1;
  }
  EXPECT_GT(other_plan, 30U);
  EXPECT_GT(padding_skipped, 30U);
  EXPECT_GT(copies_cut_off, 90U);
}

} // namespace
} // namespace gradweave
