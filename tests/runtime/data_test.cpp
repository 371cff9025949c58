// Seeded data: the same everywhere, and fit for its purpose.
#include "runtime/data/data.hpp"
#include "runtime/data/golden_layer.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace gradweave::runtime {
namespace {

using compiler::Layer;
using compiler::Tensor;

const Layer kLayer{"fc", 45, 70, 33, true, 3};

bool is_finite(std::uint32_t bits, bool fp32) {
  const std::uint32_t exponent = fp32 ? 0x7f800000U : 0x7f80U;
  return (bits & exponent) != exponent;
}

double finite_share(const HostTensor &tensor) {
  std::size_t finite = 0;
  for (std::size_t i = 0; i < tensor.size(); ++i)
    finite += is_finite(tensor.bits(i), tensor.fp32) ? 1 : 0;
  return static_cast<double>(finite) / static_cast<double>(tensor.size());
}

TensorSet inputs(const Layer &layer, DataKind kind, std::uint64_t seed) {
  TensorSet set;
  for (const Tensor tensor : {Tensor::kX, Tensor::kW, Tensor::kDY})
    set.push_back(make_input(tensor, layer, "net", kind, seed));
  return set;
}

/// A 3 x 3 convolution of stride 2 with padding on two sides, in two groups of channels.
Layer convolution(const std::string &name) {
  Convolution conv;
  conv.batch = 2;
  conv.height = 13;
  conv.width = 12;
  conv.channels = 10;
  conv.out_channels = 14;
  conv.kernel_height = conv.kernel_width = 3;
  conv.stride_height = 2;
  conv.pad_top = conv.pad_left = 1;
  conv.groups = 2;
  Layer layer{name, conv.m(), conv.k(), conv.n(), true, 0};
  layer.groups = conv.groups;
  layer.conv = conv;
  return layer;
}

// These constants are the promise that a seed means the same data on every machine and compiler.
TEST(Data, HasTheSameBitsEverywhere) {
  EXPECT_EQ(hash_tensor(make_input(Tensor::kX, kLayer, "net", DataKind::kNormal, 1)), 0x45f97f469618464bULL);
  EXPECT_EQ(hash_tensor(make_input(Tensor::kW, kLayer, "net", DataKind::kNormal, 1)), 0x49d8f3ebef5e55ceULL);
  EXPECT_EQ(hash_tensor(make_input(Tensor::kDY, kLayer, "net", DataKind::kSpecial, 1)), 0x3ae0d92d1657fde0ULL);
}

TEST(Data, DependsOnEveryPartOfItsKeyButNotOnTheLayersIndex) {
  std::set<std::uint64_t> hashes;
  const auto add = [&](Tensor tensor, const Layer &layer, const std::string &network, DataKind kind,
                       std::uint64_t seed) {
    hashes.insert(hash_tensor(make_input(tensor, layer, network, kind, seed)));
  };
  Layer square{"fc", 8, 8, 8, true, 0};
  Layer renamed = square;
  renamed.name = "fd";
  add(Tensor::kX, square, "net", DataKind::kNormal, 1);
  add(Tensor::kW, square, "net", DataKind::kNormal, 1);
  add(Tensor::kX, renamed, "net", DataKind::kNormal, 1);
  add(Tensor::kX, square, "other", DataKind::kNormal, 1);
  add(Tensor::kX, square, "net", DataKind::kSpecial, 1);
  add(Tensor::kX, square, "net", DataKind::kNormal, 2);
  EXPECT_EQ(hashes.size(), 6U);
  square.index = 5;
  add(Tensor::kX, square, "net", DataKind::kNormal, 1);
  EXPECT_EQ(hashes.size(), 6U);
}

TEST(Data, GroupsLieBesideEachOther) {
  Layer layer = kLayer;
  layer.groups = 3;
  const TensorSet set = inputs(layer, DataKind::kNormal, 1);
  EXPECT_EQ(set[0].cols, 3 * 70U);
  EXPECT_EQ(set[1].rows, 3 * 70U);
  EXPECT_EQ(set[1].cols, 33U);
  EXPECT_EQ(set[2].cols, 3 * 33U);
}

TEST(Data, TheGroupsOfAGoldenResultAreProductsOfTheirOwn) {
  Layer layer = kLayer;
  layer.groups = 3;
  const TensorSet set = inputs(layer, DataKind::kSpecial, 1);
  for (std::uint32_t g = 0; g < 3; ++g) {
    TensorSet own;
    for (const HostTensor &all : set) {
      const bool below = all.tensor == Tensor::kW;
      HostTensor &part =
          own.emplace_back(all.tensor, false, below ? all.rows / 3 : all.rows, below ? all.cols : all.cols / 3);
      for (std::uint32_t i = 0; i < part.rows; ++i)
        for (std::uint32_t j = 0; j < part.cols; ++j)
          part.half[i * part.cols + j] =
              all.half[(below ? g * part.rows + i : i) * all.cols + (below ? j : g * part.cols + j)];
    }
    for (const Tensor tensor : {Tensor::kY, Tensor::kDX, Tensor::kDW}) {
      const HostTensor all = golden_result(tensor, set, 3);
      const HostTensor part = golden_result(tensor, own);
      const bool below = tensor == Tensor::kDW;
      for (std::uint32_t i = 0; i < part.rows; ++i)
        for (std::uint32_t j = 0; j < part.cols; ++j)
          ASSERT_EQ(part.bits(std::size_t{i} * part.cols + j),
                    all.bits(std::size_t{below ? g * part.rows + i : i} * all.cols + (below ? j : g * part.cols + j)))
              << compiler::to_string(tensor) << " group " << g << " " << i << " " << j;
    }
  }
}

TEST(Data, AReductionPlanChangesBitsButLittleElse) {
  const Layer layer{"long", 5, 6, 700, true, 0};
  const TensorSet set = inputs(layer, DataKind::kNormal, 1);
  compiler::ReductionPlans plans;
  plans.cuts[static_cast<std::size_t>(Tensor::kDW)] = {2, 3};
  EXPECT_NE(golden_result(Tensor::kDW, set, 1, plans).full, golden_result(Tensor::kDW, set).full);
  EXPECT_EQ(golden_result(Tensor::kDX, set, 1, plans).half, golden_result(Tensor::kDX, set).half) << "has no cuts";
}

TEST(Data, AConvolutionsXIsItsImage) {
  const Layer layer = convolution("conv");
  const HostTensor image = make_image(layer, "net", DataKind::kNormal, 1);
  EXPECT_EQ(image.rows, 2U * 13 * 12);
  EXPECT_EQ(image.cols, 10U);
  const HostTensor x = make_input(Tensor::kX, layer, "net", DataKind::kNormal, 1);
  EXPECT_EQ(x.rows, layer.m);
  EXPECT_EQ(x.cols, 2 * layer.k);
  EXPECT_EQ(x.half, im2col(*layer.conv, image.half.data()));
  EXPECT_EQ(x.half[0], 0) << "padding above the first pixel";
  EXPECT_THROW(make_image(kLayer, "net", DataKind::kNormal, 1), std::invalid_argument);
}

TEST(Data, SharedWeightsAreTheSame) {
  Layer second = convolution("second");
  second.weights = "first";
  EXPECT_EQ(make_input(Tensor::kW, second, "net", DataKind::kNormal, 1).half,
            make_input(Tensor::kW, convolution("first"), "net", DataKind::kNormal, 1).half);
  EXPECT_NE(make_input(Tensor::kX, second, "net", DataKind::kNormal, 1).half,
            make_input(Tensor::kX, convolution("first"), "net", DataKind::kNormal, 1).half);
}

TEST(Data, SpecialImagesLeaveMostResultsFinite) {
  Layer wide = convolution("wide");
  wide.conv->height = wide.conv->width = 40;
  wide.conv->channels = 64;
  wide.conv->kernel_height = wide.conv->kernel_width = 7;
  wide.m = wide.conv->m();
  wide.k = wide.conv->k();
  for (const Layer &layer : {convolution("conv"), wide}) {
    const TensorSet set = inputs(layer, DataKind::kSpecial, 1);
    if (layer.name == "wide") {
      EXPECT_LT(finite_share(set[0]), 1.0);
    }
    for (const Tensor tensor : {Tensor::kY, Tensor::kDX, Tensor::kDW})
      EXPECT_GT(finite_share(golden_result(tensor, set, 2)), 0.4) << layer.name << " " << compiler::to_string(tensor);
  }
}

TEST(Data, ResultsAreNotInputs) {
  EXPECT_THROW(make_input(Tensor::kDW, kLayer, "net", DataKind::kNormal, 1), std::invalid_argument);
}

TEST(Data, NormalDataKeepsEverySumFinite) {
  for (const Layer &layer : {kLayer, Layer{"long", 3, 5000, 2, true, 0}}) {
    const TensorSet set = inputs(layer, DataKind::kNormal, 1);
    for (const HostTensor &tensor : set)
      EXPECT_EQ(finite_share(tensor), 1.0);
    for (const Tensor tensor : {Tensor::kY, Tensor::kDX, Tensor::kDW})
      EXPECT_EQ(finite_share(golden_result(tensor, set)), 1.0);
  }
}

TEST(Data, SpecialDataHasEveryKindOfValue) {
  std::size_t nan = 0;
  std::size_t infinite = 0;
  std::size_t subnormal = 0;
  std::size_t negative_zero = 0;
  const HostTensor x = make_input(Tensor::kX, {"s", 64, 64, 64, true, 0}, "net", DataKind::kSpecial, 1);
  for (const std::uint16_t bits : x.half) {
    const unsigned exponent = bits >> 7U & 0xffU;
    const unsigned fraction = bits & 0x7fU;
    nan += exponent == 255 && fraction != 0 ? 1 : 0;
    infinite += exponent == 255 && fraction == 0 ? 1 : 0;
    subnormal += exponent == 0 && fraction != 0 ? 1 : 0;
    negative_zero += bits == 0x8000 ? 1 : 0;
  }
  EXPECT_GT(nan, 0U);
  EXPECT_GT(infinite, 0U);
  EXPECT_GT(subnormal, 100U);
  EXPECT_GT(negative_zero, 50U);
}

// A check that compares NaN with NaN everywhere would find nothing.
TEST(Data, SpecialDataLeavesMostResultsFinite) {
  for (const Layer &layer : {Layer{"a", 512, 312, 312, true, 0}, Layer{"b", 20, 30, 40, true, 0},
                             Layer{"c", 1, 7, 3, true, 0}, Layer{"d", 4, 5, 6, true, 0}}) {
    const TensorSet set = inputs(layer, DataKind::kSpecial, 1);
    for (const Tensor tensor : {Tensor::kY, Tensor::kDX, Tensor::kDW})
      EXPECT_GT(finite_share(golden_result(tensor, set)), 0.4) << layer.name << " " << compiler::to_string(tensor);
  }
}

TEST(Data, SpecialResultsHaveSubnormalsZerosOverflowAndNan) {
  const TensorSet set = inputs({"a", 96, 80, 72, true, 0}, DataKind::kSpecial, 1);
  const HostTensor dw = golden_result(Tensor::kDW, set);
  std::size_t subnormal = 0;
  std::size_t infinite = 0;
  std::size_t nan = 0;
  for (const std::uint32_t bits : dw.full) {
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    subnormal += magnitude != 0 && magnitude < 0x00800000U ? 1 : 0;
    infinite += magnitude == 0x7f800000U ? 1 : 0;
    nan += magnitude > 0x7f800000U ? 1 : 0;
  }
  EXPECT_GT(subnormal, 0U);
  EXPECT_GT(infinite, 0U);
  EXPECT_GT(nan, 0U);
}

TEST(Data, KindsHaveNames) {
  EXPECT_EQ(parse_data_kind("special"), DataKind::kSpecial);
  EXPECT_EQ(to_string(parse_data_kind("normal")), "normal");
  EXPECT_THROW(parse_data_kind("random"), std::invalid_argument);
}

} // namespace
} // namespace gradweave::runtime
