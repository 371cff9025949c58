// The check of a convolution's results against the convolution itself: right results pass it, and each kind of wrong
// one does not, also where the golden products could not know better.
#include "runtime/data/direct_check.hpp"

#include "base/random/dice.hpp"
#include "runtime/data/data.hpp"
#include "runtime/job/job.hpp"
#include "tests/sw_models/random_convolution.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace gradweave::runtime {
namespace {

using compiler::Layer;
using compiler::Tensor;

constexpr Tensor kResults[] = {Tensor::kY, Tensor::kDX, Tensor::kDW};

Layer layer_of(const Convolution &conv) {
  Layer layer{"conv", conv.m(), conv.k(), conv.n(), true, 0};
  layer.groups = conv.groups;
  layer.conv = conv;
  return layer;
}

struct Case {
  Layer layer;
  HostTensor image;
  TensorSet inputs;
};

Case random_case(std::uint64_t seed) {
  Dice dice(seed);
  Case c;
  c.layer = layer_of(random_convolution(dice));
  const DataKind kind = seed % 2 == 0 ? DataKind::kNormal : DataKind::kSpecial;
  c.image = make_image(c.layer, "net", kind, seed);
  for (const Tensor tensor : {Tensor::kX, Tensor::kW, Tensor::kDY})
    c.inputs.push_back(make_input(tensor, c.layer, "net", kind, seed));
  return c;
}

TEST(DirectCheck, GoldenResultsPass) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Case c = random_case(seed);
    compiler::ReductionPlans plans;
    if (c.layer.m > 2) plans.cuts[static_cast<std::size_t>(Tensor::kDW)] = {c.layer.m / 2};
    if (c.layer.n > 2) plans.cuts[static_cast<std::size_t>(Tensor::kDX)] = {1, 2};
    for (const Tensor tensor : kResults) {
      const HostTensor result = golden_result(tensor, c.inputs, c.layer.groups, plans);
      const Comparison comparison = compare_direct(result, c.layer, c.image, c.inputs, plans);
      EXPECT_EQ(comparison.mismatches, 0U)
          << "seed " << seed << " " << compiler::to_string(tensor) << ": " << *c.layer.conv;
      EXPECT_EQ(comparison.elements, tensor == Tensor::kDX ? c.image.size() : result.size());
    }
  }
}

TEST(DirectCheck, AWrongElementIsFound) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Case c = random_case(2 * seed);
    for (const Tensor tensor : {Tensor::kY, Tensor::kDW}) {
      HostTensor result = golden_result(tensor, c.inputs, c.layer.groups);
      const std::size_t at = seed * 7919 % result.size();
      if (result.fp32)
        result.full[at] ^= 1;
      else
        result.half[at] ^= 1;
      const Comparison comparison = compare_direct(result, c.layer, c.image, c.inputs, {});
      ASSERT_EQ(comparison.mismatches, 1U) << "seed " << seed;
      EXPECT_EQ(std::size_t{comparison.first->row} * result.cols + comparison.first->col, at);
    }
  }
}

/// A dX of which a copy is doubled changes the image's gradient, unless the copy is padding or vanishes beside others.
TEST(DirectCheck, AWrongCopyIsFound) {
  std::size_t found = 0, tried = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Case c = random_case(2 * seed);
    c.layer.conv->pad_top = c.layer.conv->pad_bottom = c.layer.conv->pad_left = c.layer.conv->pad_right = 0;
    if (c.layer.conv->height < 12 || c.layer.conv->width < 12) c.layer.conv->height = c.layer.conv->width = 12;
    c.layer = layer_of(*c.layer.conv);
    c.image = make_image(c.layer, "net", DataKind::kNormal, seed);
    c.inputs.clear();
    for (const Tensor tensor : {Tensor::kW, Tensor::kDY})
      c.inputs.push_back(make_input(tensor, c.layer, "net", DataKind::kNormal, seed));
    HostTensor dx = golden_result(Tensor::kDX, c.inputs, c.layer.groups);
    dx.half[seed * 7919 % dx.size()] += 0x80; // twice the value
    found += compare_direct(dx, c.layer, c.image, c.inputs, {}).mismatches;
    ++tried;
  }
  EXPECT_EQ(found, tried) << "one element of the image's gradient each";
}

/// An X in the wrong order of taps gives consistent golden products, which only the convolution itself can refuse.
TEST(DirectCheck, AWrongIm2colIsFound) {
  Convolution conv;
  conv.height = conv.width = 6;
  conv.channels = 3;
  conv.out_channels = 4;
  conv.kernel_height = conv.kernel_width = 3;
  Case c;
  c.layer = layer_of(conv);
  c.image = make_image(c.layer, "net", DataKind::kNormal, 1);
  for (const Tensor tensor : {Tensor::kX, Tensor::kW, Tensor::kDY})
    c.inputs.push_back(make_input(tensor, c.layer, "net", DataKind::kNormal, 1));
  HostTensor &x = c.inputs.front();
  for (std::uint32_t row = 0; row < x.rows; ++row)
    std::swap_ranges(&x.half[row * x.cols], &x.half[row * x.cols + 3], &x.half[row * x.cols + 3]);
  for (const Tensor tensor : {Tensor::kY, Tensor::kDW})
    EXPECT_GT(compare_direct(golden_result(tensor, c.inputs), c.layer, c.image, c.inputs, {}).mismatches, 0U);
}

TEST(DirectCheck, OtherPlansAreFound) {
  Convolution conv;
  conv.height = conv.width = 12;
  conv.channels = conv.out_channels = 8;
  conv.kernel_height = conv.kernel_width = 3;
  Case c;
  c.layer = layer_of(conv);
  c.image = make_image(c.layer, "net", DataKind::kNormal, 1);
  for (const Tensor tensor : {Tensor::kX, Tensor::kDY})
    c.inputs.push_back(make_input(tensor, c.layer, "net", DataKind::kNormal, 1));
  compiler::ReductionPlans plans;
  plans.cuts[static_cast<std::size_t>(Tensor::kDW)] = {50};
  const HostTensor dw = golden_result(Tensor::kDW, c.inputs, 1, plans);
  EXPECT_EQ(compare_direct(dw, c.layer, c.image, c.inputs, plans).mismatches, 0U);
  EXPECT_GT(compare_direct(dw, c.layer, c.image, c.inputs, {}).mismatches, 0U);
}

TEST(DirectCheck, RefusesOtherLayersAndInputs) {
  const Case c = random_case(0);
  EXPECT_THROW(compare_direct(c.inputs[0], c.layer, c.image, c.inputs, {}), std::invalid_argument);
  Layer product = c.layer;
  product.conv.reset();
  EXPECT_THROW(compare_direct(golden_result(Tensor::kY, c.inputs, c.layer.groups), product, c.image, c.inputs, {}),
               std::invalid_argument);
}

TEST(DirectCheck, IsPartOfAJob) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Dice dice(seed);
    JobSpec spec;
    spec.network = "net";
    spec.layers = {layer_of(random_convolution(dice))};
    spec.npu = load_machine("configs/test6x10.toml");
    spec.compile.pass = compiler::Pass::kBoth;
    spec.backend = Backend::kFunctional;
    spec.data = seed % 2 == 0 ? DataKind::kNormal : DataKind::kSpecial;
    spec.seed = seed;
    const JobResult result = run_job(spec);
    ASSERT_EQ(result.outcome, Outcome::kPass) << "seed " << seed << ": " << result.failures.front();
    ASSERT_EQ(result.outputs.size(), 3U);
    for (const OutputCheck &check : result.outputs)
      EXPECT_EQ(check.direct, check.tensor == Tensor::kDX ? spec.layer().conv->image_size() : check.elements);
  }
}

} // namespace
} // namespace gradweave::runtime
