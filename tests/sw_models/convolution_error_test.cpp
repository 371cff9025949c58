// The contract's convolutions against convolutions in double precision.
//
// All other tests compare bits. This one answers another question, whether those bits are a good convolution, and for
// that it needs no tolerance somebody chose: rounding analysis gives a bound that no correct computation can exceed.
// With u = 2^-24, a chain of K fused steps differs from the exact sum by at most ((1 + u)^K - 1) times the sum of the
// absolute products, as each step multiplies what went before by at most 1 + u (Higham, "Accuracy and Stability of
// Numerical Algorithms", 3.1). Rounding to bf16 adds at most 2^-8 of the value rounded. Data are plain, so that no
// result is near the ends of the exponent range. Double precision is accounted for in the same way, with 2^-53.
#include "tests/sw_models/random_convolution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace gradweave {
namespace {

constexpr double kUnit = 0x1p-24, kHalf = 0x1p-8, kDouble = 0x1p-53;

/// (1 + u)^steps - 1, rounded up.
double growth(std::size_t steps, double u) {
  return std::expm1(static_cast<double>(steps) * std::log1p(u)) * (1 + 1e-9);
}

/// A sum of products in double precision, and what it may be away from a contract's result.
struct Sum {
  double value = 0, absolute = 0;
  std::size_t steps = 0;

  void add(double a, double b) {
    value += a * b;
    absolute += std::fabs(a * b);
    ++steps;
  }
  /// Of the fp32 accumulator from the exact sum, and of `value` from it.
  double error() const { return absolute * (growth(steps, kUnit) + growth(2 * steps, kDouble)); }
  /// After the rounding to bf16.
  double rounded_error() const { return error() + kHalf * (std::fabs(value) + error()); }
};

double wide(std::uint16_t bf16) { return static_cast<double>(fp32_from_bf16(bf16)); }

/// A convolution as its definition has it: visits every pair of an output pixel and an input pixel that meet at a tap.
/// visit(output element, image element, weight) for all channels.
void visit_terms(const Convolution &c,
                 const std::function<void(std::size_t, std::size_t, std::size_t, std::size_t)> &visit) {
  const auto out_height = static_cast<int>(c.out_height());
  const auto out_width = static_cast<int>(c.out_width());
  const std::size_t in = c.group_channels(), out = c.n();
  for (std::size_t b = 0; b < c.batch; ++b)
    for (int r = 0; r < out_height; ++r)
      for (int q = 0; q < out_width; ++q)
        for (int kr = 0; kr < static_cast<int>(c.kernel_height); ++kr)
          for (int kc = 0; kc < static_cast<int>(c.kernel_width); ++kc) {
            const int row = r * static_cast<int>(c.stride_height) + kr * static_cast<int>(c.dilation_height) -
                            static_cast<int>(c.pad_top);
            const int col = q * static_cast<int>(c.stride_width) + kc * static_cast<int>(c.dilation_width) -
                            static_cast<int>(c.pad_left);
            if (row < 0 || col < 0 || row >= static_cast<int>(c.height) || col >= static_cast<int>(c.width)) continue;
            const std::size_t pixel =
                (b * c.height + static_cast<std::size_t>(row)) * c.width + static_cast<std::size_t>(col);
            const std::size_t out_pixel =
                (b * c.out_height() + static_cast<std::size_t>(r)) * c.out_width() + static_cast<std::size_t>(q);
            const std::size_t tap = static_cast<std::size_t>(kr) * c.kernel_width + static_cast<std::size_t>(kc);
            for (std::size_t g = 0; g < c.groups; ++g)
              for (std::size_t i = 0; i < in; ++i)
                for (std::size_t o = 0; o < out; ++o)
                  visit(out_pixel * c.out_channels + g * out + o, pixel * c.channels + g * in + i,
                        (g * c.k() + tap * in + i) * out + o, tap);
          }
}

TEST(ConvolutionError, StaysWithinTheBoundOfRoundingAnalysis) {
  double worst = 0; // of the bounds used, so that a bound much too wide would be seen
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Dice dice(seed);
    const Convolution c = random_convolution(dice);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << c);
    const ConvolutionData d = random_data(c, {}, dice);
    std::vector<Sum> y(d.dy.size()), dw(d.w.size());
    // dX in two stages: copies by tap and image element, each rounded to bf16, then their sum.
    const std::size_t taps = std::size_t{c.kernel_height} * c.kernel_width;
    std::vector<Sum> copies(d.image.size() * taps);
    visit_terms(c, [&](std::size_t out, std::size_t in, std::size_t weight, std::size_t tap) {
      y[out].add(wide(d.image[in]), wide(d.w[weight]));
      dw[weight].add(wide(d.image[in]), wide(d.dy[out]));
      copies[in * taps + tap].add(wide(d.dy[out]), wide(d.w[weight]));
    });

    const auto actual_y = direct::forward(c, d.image.data(), d.w.data());
    const auto actual_dx = direct::input_gradient(c, d.dy.data(), d.w.data());
    const auto actual_dw = direct::weight_gradient(c, d.image.data(), d.dy.data());
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_LE(std::fabs(wide(actual_y[i]) - y[i].value), y[i].rounded_error()) << "Y " << i;
    for (std::size_t i = 0; i < dw.size(); ++i)
      ASSERT_LE(std::fabs(static_cast<double>(actual_dw[i]) - dw[i].value), dw[i].error()) << "dW " << i;
    for (std::size_t i = 0; i < d.image.size(); ++i) {
      double value = 0, absolute = 0, error = 0;
      for (std::size_t t = 0; t < taps; ++t) {
        const Sum &copy = copies[i * taps + t];
        value += copy.value;
        absolute += std::fabs(copy.value) + copy.rounded_error();
        error += copy.rounded_error();
      }
      error += absolute * (growth(taps, kUnit) + growth(taps, kDouble));
      const double bound = error + kHalf * (std::fabs(value) + error);
      const double difference = std::fabs(wide(actual_dx[i]) - value);
      ASSERT_LE(difference, bound) << "dX " << i;
      if (bound > 0) worst = std::max(worst, difference / bound);
    }
  }
  EXPECT_GT(worst, 0.5) << "a bound that is never approached checks little";
}

/// A weight in the wrong place, or a tap that is left out, exceeds the bound.
TEST(ConvolutionError, AWrongConvolutionExceedsTheBound) {
  std::size_t seen = 0, tried = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Dice dice(seed);
    const Convolution c = random_convolution(dice);
    ConvolutionData d = random_data(c, {}, dice);
    std::vector<Sum> y(d.dy.size());
    visit_terms(c, [&](std::size_t out, std::size_t in, std::size_t weight, std::size_t) {
      y[out].add(wide(d.image[in]), wide(d.w[weight]));
    });
    d.w[dice.below(d.w.size())] ^= 0x40; // half of a weight's size or twice
    const auto wrong = direct::forward(c, d.image.data(), d.w.data());
    ++tried;
    for (std::size_t i = 0; i < y.size(); ++i)
      if (std::fabs(wide(wrong[i]) - y[i].value) > y[i].rounded_error()) {
        ++seen;
        break;
      }
  }
  EXPECT_GT(seen, tried * 2 / 3) << "some weights meet nothing but padding";
}

} // namespace
} // namespace gradweave
