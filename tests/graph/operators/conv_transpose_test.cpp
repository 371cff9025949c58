#include "operator_check.hpp"

#include "sw_models/numerics/convolution.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave::graph {
namespace {

using Numbers = std::vector<std::int64_t>;

Build conv_transpose(const Shape &x, const Shape &w, Attributes attributes) {
  attributes.set("group", std::int64_t{w[0]});
  return [=](Builder &b) {
    return b.add("ConvTranspose", {b.parameter("x", x, "zeros"), b.parameter("w", w, "zeros")}, attributes, "y");
  };
}

Build conv_transpose_bf16(const Shape &x, const Shape &w, const Attributes &attributes) {
  return [=](Builder &b) {
    const TensorId in = b.input("x", ElementType::kBf16, x);
    const TensorId y = b.add("ConvTranspose", {in, b.input("w", ElementType::kBf16, w)}, attributes, "y");
    b.fix_type(y, ElementType::kBf16);
    return y;
  };
}

const Attributes kDouble{{"strides", Numbers{2, 2}}, {"pads", Numbers{1, 1, 0, 1}}};
const Attributes kMore{{"strides", Numbers{3, 2}}, {"dilations", Numbers{1, 2}}, {"output_padding", Numbers{2, 1}}};

std::vector<std::uint16_t> bf16_of(const std::vector<float> &values) {
  std::vector<std::uint16_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(), bf16_from_fp32);
  return bits;
}

/// As the image's gradient of the convolution from [2, 6, 5, 2] to [2, 3, 3, 3].
std::vector<float> as_gradient(const Given &given) {
  Convolution conv;
  conv.batch = 2, conv.height = 6, conv.width = 5, conv.channels = 2, conv.out_channels = 3;
  conv.kernel_height = conv.kernel_width = 3, conv.stride_height = conv.stride_width = 2;
  conv.pad_top = conv.pad_left = conv.pad_right = 1;
  const std::vector<std::uint16_t> dx =
      direct::transposed(conv, bf16_of(given.real.at("x")).data(), bf16_of(given.real.at("w")).data());
  std::vector<float> y(dx.size());
  std::transform(dx.begin(), dx.end(), y.begin(), fp32_from_bf16);
  return y;
}

const Holds
    conv_transpose_holds({"ConvTranspose"},
                         {derivative(conv_transpose({2, 3, 3, 3}, {1, 3, 3, 2, 3}, kDouble)),
                          derivative(conv_transpose({1, 2, 3, 4}, {2, 3, 2, 3, 2}, kMore)),
                          derivative(conv_transpose({1, 2, 2, 3}, {3, 2, 2, 1, 1}, {})),
                          near_fp64(conv_transpose_bf16({2, 3, 3, 3}, {1, 3, 3, 2, 3}, kDouble), {}, 0.01),
                          exact(conv_transpose({1, 1, 2, 1}, {1, 1, 2, 1, 1}, {{"strides", Numbers{1, 3}}}),
                                {{{"x", {1, 2}}, {"w", {3, 5}}}}, {3, 5, 0, 6, 10}),
                          replayed(conv_transpose_bf16({2, 3, 3, 3}, {1, 3, 3, 2, 3}, kDouble), {}, as_gradient)});

TEST(ConvTranspose, OutputPaddingAddsWhatNoPixelReaches) {
  const auto y = run_contract(
      conv_transpose({1, 1, 1, 1}, {1, 1, 1, 1, 1}, {{"strides", Numbers{1, 3}}, {"output_padding", Numbers{0, 2}}}),
      {{"x", {2}}, {"w", {3}}});
  EXPECT_EQ(y, (std::vector<float>{6, 0, 0}));
}

std::string transpose_error(const Shape &x, const Shape &w, const Attributes &attributes) {
  return build_error([&](Builder &b) {
    b.at("net.graph:7");
    return conv_transpose(x, w, attributes)(b);
  });
}

TEST(ConvTranspose, RefusesWhatDoesNotFit) {
  const std::string where = "net.graph:7: op 'y' (ConvTranspose): ";
  EXPECT_EQ(transpose_error({1, 3, 3, 2}, {1, 3, 3, 2, 3}, {}),
            where + "x is [1, 3, 3, 2] and w [1, 3, 3, 2, 3]: x has 2 channels, and 1 groups of 3 are 3");
  EXPECT_EQ(transpose_error({1, 1, 1, 3}, {1, 3, 3, 2, 3}, {{"pads", Numbers{2, 0, 1, 0}}}),
            where + "the result would have 0 pixels along axis 1; pad less");
  EXPECT_EQ(transpose_error({1, 3, 3, 3}, {1, 3, 3, 2, 3}, {{"output_padding", Numbers{0, 1}}}),
            where + "attribute 'output_padding' = [0, 1] must be below 'strides' = [1, 1]");
}

} // namespace
} // namespace gradweave::graph
