#include "operator_check.hpp"

#include "graph/golden/kernel.hpp"
#include "graph/operators/conv/geometry.hpp"
#include "sw_models/numerics/convolution.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace gradweave::graph {
namespace {

using Numbers = std::vector<std::int64_t>;

struct ConvCase {
  Shape x, w;
  Numbers strides = {1, 1}, pads = {0, 0, 0, 0}, dilations = {1, 1};

  Attributes attributes() const {
    return {{"strides", strides}, {"pads", pads}, {"dilations", dilations}, {"group", std::int64_t{w[0]}}};
  }
};

const std::vector<ConvCase> &conv_cases() {
  static const std::vector<ConvCase> cases = {
      {{2, 5, 6, 3}, {1, 3, 3, 3, 4}, {1, 1}, {1, 1, 1, 1}},           // as most layers
      {{1, 7, 5, 2}, {1, 3, 2, 2, 3}, {2, 1}, {2, 0, 1, 1}},           // nothing is even
      {{1, 9, 8, 2}, {1, 3, 3, 2, 2}, {1, 2}, {0, 1, 2, 3}, {2, 3}},   // dilated
      {{2, 4, 4, 6}, {3, 3, 3, 2, 2}, {1, 1}, {1, 1, 1, 1}},           // groups
      {{2, 5, 5, 5}, {5, 3, 3, 1, 1}, {2, 2}, {1, 0, 1, 1}},           // depthwise
      {{1, 6, 6, 4}, {4, 2, 2, 1, 3}, {1, 1}, {1, 0, 0, 1}, {2, 2}},   // three channels out for each
      {{1, 4, 4, 3}, {1, 1, 1, 3, 5}},                                 // pointwise
      {{1, 5, 5, 2}, {1, 1, 1, 2, 2}, {2, 3}},                         // pixels that no tap reads
      {{1, 3, 3, 17}, {17, 3, 3, 1, 1}, {1, 1}, {2, 2, 2, 2}, {2, 2}}, // more channels than go together
  };
  return cases;
}

Build build_conv(const ConvCase &c) {
  return [c](Builder &b) {
    return b.add("Conv", {b.parameter("x", c.x, "zeros"), b.parameter("w", c.w, "zeros")}, c.attributes(), "y");
  };
}

TEST(Conv, DerivativeIsThatOfDifferences) {
  for (const ConvCase &c : conv_cases())
    EXPECT_LT(gradient_error(build_conv(c)), 1e-9) << c.x.text() << " " << c.w.text();
}

Convolution geometry_of(const ConvCase &c) {
  const auto at = [](const Numbers &numbers, std::size_t i) { return static_cast<std::uint32_t>(numbers[i]); };
  Convolution v;
  v.batch = c.x[0], v.height = c.x[1], v.width = c.x[2], v.channels = c.x[3], v.out_channels = c.w[0] * c.w[4];
  v.kernel_height = c.w[1], v.kernel_width = c.w[2], v.groups = c.w[0];
  v.stride_height = at(c.strides, 0), v.stride_width = at(c.strides, 1);
  v.pad_top = at(c.pads, 0), v.pad_left = at(c.pads, 1), v.pad_bottom = at(c.pads, 2), v.pad_right = at(c.pads, 3);
  v.dilation_height = at(c.dilations, 0), v.dilation_width = at(c.dilations, 1);
  return v;
}

/// bf16 values of all kinds: ordinary ones of either sign, and, with `edges`, zeros, subnormals, infinities and NaNs.
std::vector<std::uint16_t> values_of(std::size_t count, bool edges, std::mt19937_64 &dice) {
  static const std::vector<std::uint16_t> kEdges = {0x0000, 0x8000, 0x0001, 0x8001, 0x7F80, 0xFF80, 0x7FC0, 0x0080};
  std::normal_distribution<float> normal;
  std::vector<std::uint16_t> values(count);
  for (std::uint16_t &value : values)
    value = edges && dice() % 16 == 0 ? kEdges[dice() % kEdges.size()] : bf16_from_fp32(normal(dice));
  return values;
}

std::vector<float> widened(const std::vector<std::uint16_t> &bits) {
  std::vector<float> values(bits.size());
  std::transform(bits.begin(), bits.end(), values.begin(), fp32_from_bf16);
  return values;
}

std::vector<std::uint32_t> bits_of(const std::vector<float> &values) {
  std::vector<std::uint32_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(), bits_of_fp32);
  return bits;
}

/// One op with bf16 inputs a and b, its result in `type`.
std::vector<std::uint32_t> run_bits(const char *op, const Attributes &attributes, const Shape &a, const Shape &b,
                                    ElementType type, const std::vector<std::uint16_t> &a_bits,
                                    const std::vector<std::uint16_t> &b_bits) {
  return bits_of(run_contract(
      [&](Builder &build) {
        const TensorId y = build.add(
            op, {build.input("a", ElementType::kBf16, a), build.input("b", ElementType::kBf16, b)}, attributes);
        build.fix_type(y, type);
        return y;
      },
      {{"a", widened(a_bits)}, {"b", widened(b_bits)}}));
}

void expect_direct_bits(const ConvCase &c, bool edges, std::uint64_t seed) {
  SCOPED_TRACE("x " + c.x.text() + ", w " + c.w.text() + ", seed " + std::to_string(seed));
  std::mt19937_64 dice(seed);
  const Convolution conv = geometry_of(c);
  const Shape y{conv.batch, conv.out_height(), conv.out_width(), conv.out_channels};
  const auto x = values_of(c.x.elements(), edges, dice), w = values_of(c.w.elements(), edges, dice),
             dy = values_of(y.elements(), edges, dice);
  EXPECT_EQ(run_bits("Conv", c.attributes(), c.x, c.w, ElementType::kBf16, x, w),
            bits_of(widened(direct::forward(conv, x.data(), w.data()))));
  Attributes input = c.attributes(), weights = c.attributes();
  input.set("image", Numbers{c.x[1], c.x[2]});
  weights.set("kernel", Numbers{c.w[1], c.w[2]});
  EXPECT_EQ(run_bits("ConvInputGradient", input, y, c.w, ElementType::kBf16, dy, w),
            bits_of(widened(direct::transposed(conv, dy.data(), w.data()))));
  EXPECT_EQ(run_bits("ConvWeightGradient", weights, c.x, y, ElementType::kFp32, x, dy),
            bits_of(direct::weight_gradient(conv, x.data(), dy.data())));
}

/// An op of the first case under its name, its result in the type that the contract gives it.
Build small_conv(const std::string &op, bool depthwise) {
  return [=](Builder &b) {
    const ConvCase c = conv_cases()[depthwise ? 4 : 0];
    const Convolution conv = geometry_of(c);
    const Shape y{conv.batch, conv.out_height(), conv.out_width(), conv.out_channels};
    Attributes attributes = c.attributes();
    if (op == "ConvInputGradient") attributes.set("image", Numbers{c.x[1], c.x[2]});
    if (op == "ConvWeightGradient") attributes.set("kernel", Numbers{c.w[1], c.w[2]});
    const TensorId left = b.input("left", ElementType::kBf16, op == "ConvInputGradient" ? y : c.x);
    const TensorId right = b.input("right", ElementType::kBf16, op == "ConvWeightGradient" ? y : c.w);
    return b.add(op, {left, right}, attributes);
  };
}

/// The same in bf16 where the direct convolution gives that.
Build small_conv_rounded(const std::string &op, bool depthwise) {
  return [build = small_conv(op, depthwise)](Builder &b) {
    const TensorId y = build(b);
    b.fix_type(y, ElementType::kBf16);
    return y;
  };
}

std::vector<std::uint16_t> narrowed(const Given &given, const char *name) {
  const std::vector<float> &values = given.real.at(name);
  std::vector<std::uint16_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(), bf16_from_fp32);
  return bits;
}

std::vector<Check> conv_checks(bool depthwise) {
  const Convolution conv = geometry_of(conv_cases()[depthwise ? 4 : 0]);
  const auto forward = [conv](const Given &given) {
    return widened(direct::forward(conv, narrowed(given, "left").data(), narrowed(given, "right").data()));
  };
  const auto input = [conv](const Given &given) {
    return widened(direct::transposed(conv, narrowed(given, "left").data(), narrowed(given, "right").data()));
  };
  const auto weight = [conv](const Given &given) {
    return direct::weight_gradient(conv, narrowed(given, "left").data(), narrowed(given, "right").data());
  };
  return {near_fp64(small_conv("Conv", depthwise)),
          near_fp64(small_conv("ConvInputGradient", depthwise)),
          near_fp64(small_conv("ConvWeightGradient", depthwise)),
          replayed(small_conv_rounded("Conv", depthwise), {}, forward),
          replayed(small_conv_rounded("ConvInputGradient", depthwise), {}, input),
          replayed(small_conv("ConvWeightGradient", depthwise), {}, weight)};
}

const Holds conv_holds({"Conv", "ConvInputGradient", "ConvWeightGradient"}, conv_checks(false));
const Holds depthwise_holds({"Conv", "ConvInputGradient", "ConvWeightGradient"}, conv_checks(true));
/// A chain of three products, in fp32.
TensorId three_products(Builder &b) {
  const TensorId x = b.input("x", ElementType::kBf16, {1, 1, 3, 1});
  return b.add("Conv", {x, b.input("w", ElementType::kBf16, {1, 1, 3, 1, 1})});
}

/// The gradient of one pixel that two taps read, in fp32.
TensorId two_taps(Builder &b) {
  const TensorId dy = b.input("dy", ElementType::kBf16, {1, 1, 2, 2});
  const TensorId dx = b.add("ConvInputGradient", {dy, b.input("w", ElementType::kBf16, {1, 1, 2, 1, 2})},
                            {{"pads", Numbers{0, 1, 0, 1}}, {"image", Numbers{1, 1}}});
  b.fix_type(dx, ElementType::kFp32);
  return dx;
}

/// The gradient of a pixel that one tap reads, and another beyond the edge of dY.
TensorId edge_of_dy(Builder &b) {
  const TensorId dy = b.input("dy", ElementType::kBf16, {1, 1, 1, 1});
  return b.add("ConvInputGradient", {dy, b.input("w", ElementType::kBf16, {1, 1, 2, 1, 1})},
               {{"image", Numbers{1, 2}}});
}

const Holds conv_exact_holds({"Conv"}, {exact(three_products, {{{"x", {16777216, 1, 1}}, {"w", {1, 1, 1}}}},
                                              {16777216})}); // 2^24 + 1 rounds back each time
// The first tap meets the second pixel of dY, whose 2^24 the three ones do not reach, one by one.
const Holds taps_exact_holds(
    {"ConvInputGradient"},
    {exact(two_taps, {{{"dy", {1, 1, 16777216, 1}}, {"w", {1, 1, 1, 1}}}}, {16777216}),
     exact(two_taps, {{{"dy", {1, 0x1p-8F, 1, 0x1p-8F}}, {"w", {1, 1, 1, 1}}}}, {2 + 0x1p-7F}), // rounded at the end
     exact(edge_of_dy, {{{"dy", {2}}, {"w", {3, INFINITY}}}}, {NAN, INFINITY})});               // +0 times infinity
/// A chain that goes on with an earlier one's end.
TensorId continued(Builder &b) {
  const TensorId x = b.input("x", ElementType::kBf16, {1, 1, 2, 1}),
                 dy = b.input("dy", ElementType::kBf16, {1, 1, 2, 1});
  return b.add("ConvWeightGradient", {x, dy, b.input("initial", ElementType::kFp32, {1, 1, 1, 1, 1})},
               {{"kernel", Numbers{1, 1}}});
}

const Holds continued_holds({"ConvWeightGradient"},
                            {near_fp64(continued),
                             exact(continued, {{{"x", {1, 1}}, {"dy", {1, 1}}, {"initial", {16777216}}}},
                                   {16777216})}); // 2^24 + 1 rounds back each time
const Holds conv_derivative_holds({"Conv", "ConvInputGradient", "ConvWeightGradient"},
                                  {derivative(build_conv({{1, 3, 4, 2}, {1, 2, 3, 2, 2}, {2, 1}, {1, 0, 0, 1}}))});

TEST(Conv, BitsAreThoseOfTheDirectConvolution) {
  for (const ConvCase &c : conv_cases())
    for (const bool edges : {false, true})
      expect_direct_bits(c, edges, 7);
}

ConvCase random_case(std::mt19937_64 &dice) {
  const auto up_to = [&](std::uint32_t most) { return static_cast<std::uint32_t>(1 + dice() % most); };
  const auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(dice() % end); };
  const std::uint32_t groups = up_to(3), kh = up_to(4), kw = up_to(4);
  const bool depthwise = dice() % 3 == 0;
  ConvCase c;
  c.w = {groups, kh, kw, depthwise ? 1 : up_to(5), depthwise ? 1 : up_to(40)};
  c.dilations = {1 + below(2), 1 + below(2)};
  c.strides = {1 + below(3), 1 + below(3)};
  c.pads = {below(3), below(3), below(3), below(3)};
  c.x = {up_to(3), static_cast<std::uint32_t>(c.dilations[0]) * (kh - 1) + up_to(6),
         static_cast<std::uint32_t>(c.dilations[1]) * (kw - 1) + up_to(6), groups * c.w[3]};
  return c;
}

TEST(Conv, BitsOfRandomConvolutionsAreThoseOfTheDirectOne) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 dice(seed);
    expect_direct_bits(random_case(dice), seed % 2 == 0, seed);
  }
}

TEST(Conv, LargerThanOneRunOfRowsHasTheSameBits) {
  expect_direct_bits({{3, 60, 60, 8}, {1, 7, 5, 8, 3}, {1, 1}, {3, 2, 3, 2}}, false, 3); // more rows than go together
}

TEST(Conv, PaddingIsPlusZeroThatTakesPart) {
  const auto y = run_contract(
      [](Builder &b) {
        return b.add(
            "Conv", {b.input("x", ElementType::kBf16, {1, 1, 1, 1}), b.input("w", ElementType::kBf16, {1, 1, 2, 1, 1})},
            {{"pads", Numbers{0, 1, 0, 0}}});
      },
      {{"x", {2.0F}}, {"w", {INFINITY, 3.0F}}});
  EXPECT_EQ(bits_of(y), std::vector<std::uint32_t>{kFp32Nan}); // infinity times zero
}

/// What N17 would have: copies, each rounded to bf16, and their sum.
void fold_copies(Kernel<Contract> &k) {
  const Convolution conv = conv_of_weights(k.attributes(), k.out_shape(0), k.in_shape(1));
  const auto bits = [&k](std::size_t i) {
    std::vector<std::uint16_t> half(k.in_shape(i).elements());
    std::transform(k.in(i), k.in(i) + half.size(), half.begin(), bf16_from_fp32);
    return half;
  };
  const std::vector<std::uint16_t> dx = direct::input_gradient(conv, bits(0).data(), bits(1).data());
  std::transform(dx.begin(), dx.end(), k.out(0), fp32_from_bf16);
}

TEST(Conv, ChecksSeeAFoldOfRoundedCopies) {
  for (const std::string_view name : {"ConvInputGradient", "ConvTranspose"}) {
    std::vector<Operator> all = operators().all();
    for (Operator &op : all)
      if (op.name == name) op.contract = fold_copies;
    const OperatorSet folding(std::move(all));
    std::size_t seen = 0;
    for (const Check &check : checks_of(name))
      seen += check(folding).empty() ? 0 : 1;
    EXPECT_GT(seen, 0U) << name;
  }
}

std::string conv_error(const Shape &x, const Shape &w, const Attributes &attributes) {
  return build_error([&](Builder &b) {
    b.at("net.graph:7");
    return b.add("Conv", {b.parameter("x", x, "zeros"), b.parameter("w", w, "zeros")}, attributes, "y");
  });
}

TEST(Conv, RefusesWhatDoesNotFit) {
  const std::string where = "net.graph:7: op 'y' (Conv): ";
  EXPECT_EQ(conv_error({2, 5}, {1, 1, 1, 5, 3}, {}),
            where + "x is [2, 5]; it must be [batch, rows, columns, channels]");
  EXPECT_EQ(conv_error({1, 5, 5, 4}, {1, 1, 3, 3}, {}),
            where + "w is [1, 1, 3, 3]; it must be [groups, kernel rows, kernel columns, channels / groups, output "
                    "channels / groups]");
  EXPECT_EQ(conv_error({1, 5, 5, 4}, {1, 3, 3, 3, 2}, {}),
            where + "x is [1, 5, 5, 4] and w [1, 3, 3, 3, 2]: x has 4 channels, and 1 groups of 3 are 3");
  EXPECT_EQ(conv_error({1, 5, 5, 4}, {2, 3, 3, 2, 2}, {}),
            where + "w is [2, 3, 3, 2, 2], which has 2 groups, and attribute 'group' is 1");
  EXPECT_EQ(conv_error({1, 2, 5, 4}, {1, 3, 3, 4, 2}, {}),
            where +
                "the kernel spans 3 x 3 pixels and the padded image has 2 x 5; pad more, or take a smaller kernel or "
                "dilation");
}

TEST(Conv, RefusesAttributesThatAreNone) {
  const std::string where = "net.graph:7: op 'y' (Conv): ";
  const Shape x{1, 5, 5, 4}, w{1, 3, 3, 4, 2};
  EXPECT_EQ(conv_error(x, w, {{"strides", Numbers{0, 1}}}),
            where + "attribute 'strides' = [0, 1] must be 2 whole numbers from 1 to 65535");
  EXPECT_EQ(conv_error(x, w, {{"pads", Numbers{1, 1}}}),
            where + "attribute 'pads' = [1, 1] must be 4 whole numbers from 0 to 65535");
  EXPECT_EQ(conv_error(x, w, {{"dilations", Numbers{1, -1}}}),
            where + "attribute 'dilations' = [1, -1] must be 2 whole numbers from 1 to 65535");
  EXPECT_EQ(conv_error(x, w, {{"group", std::int64_t{0}}}),
            where + "attribute 'group' = 0 must be from 1 to 4294967295");
  EXPECT_EQ(conv_error(x, w, {{"stride", std::int64_t{1}}}),
            where + "there is no attribute 'stride'; known: strides, pads, dilations, group");
}

} // namespace
} // namespace gradweave::graph
