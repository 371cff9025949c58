// Cycles of layers on an array, against numbers computed by hand.
#include "sw_models/partitioned/cycles.hpp"
#include "tests/sw_models/partitioned/random_workload.hpp"

#include <gtest/gtest.h>

namespace gradweave::partitioned {
namespace {

constexpr Array kArray{4, 3};

double cycles(const Product &product, Dataflow dataflow, Fill fill) {
  return product_cycles(kArray, product, dataflow, fill);
}

std::vector<LayerShape> two_convolutions() { return {{"a", 6, 6, 2, 3, 3, 1, 2, 2}, {"b", 4, 4, 3, 5, 3, 1, 2, 2}}; }

void expect_layer(const LayerCycles &got, double forward, double dx, double dw) {
  EXPECT_EQ(got.forward, forward);
  EXPECT_EQ(got.dx, dx);
  EXPECT_EQ(got.dw, dw);
}

/// The cycles of both layers under a changed reading.
template <typename Change> std::vector<LayerCycles> under(const Change &change) {
  Reading reading;
  change(reading);
  return network_cycles(two_convolutions(), kArray, reading);
}

} // namespace

TEST(PartitionedCycles, OfAProductAreBlocksTimesStreamAndFill) {
  const Product product{10, 9, 7}; // 3 x 3 blocks of the weights, 3 x 3 of the result
  EXPECT_EQ(cycles(product, Dataflow::kWeightStationary, Fill::kNone), 9 * 10);
  EXPECT_EQ(cycles(product, Dataflow::kWeightStationary, Fill::kLoad), 9 * (10 + 4));
  EXPECT_EQ(cycles(product, Dataflow::kWeightStationary, Fill::kWhole), 9 * (10 + 5));
  EXPECT_EQ(cycles(product, Dataflow::kOutputStationary, Fill::kNone), 9 * 9);
  EXPECT_EQ(cycles(product, Dataflow::kOutputStationary, Fill::kLoad), 9 * (9 + 4));
  const Product wide{10, 8, 7}; // no part of a block along K
  EXPECT_EQ(cycles(wide, Dataflow::kWeightStationary, Fill::kNone), 2 * 3 * 10);
  EXPECT_EQ(cycles(wide, Dataflow::kOutputStationary, Fill::kNone), 3 * 3 * 8);
}

TEST(PartitionedCycles, OutputsWithoutPaddingAreRoundedUp) {
  const LayerShape layer{"c", 8, 7, 1, 1, 3, 2, 2, 2};
  EXPECT_EQ(output_side(layer, 8, 2, Outputs::kPadded), 4U);
  EXPECT_EQ(output_side(layer, 8, 2, Outputs::kScaleSim), 4U); // 3.5
  EXPECT_EQ(output_side(layer, 7, 2, Outputs::kPadded), 4U);
  EXPECT_EQ(output_side(layer, 7, 2, Outputs::kScaleSim), 3U);
}

TEST(PartitionedCycles, OfANetworkByHand) {
  const std::vector<LayerCycles> all = network_cycles(two_convolutions(), kArray, {});
  ASSERT_EQ(all.size(), 2U);
  expect_layer(all[0], 5 * 1 * (16 + 4), 0, 4 * 1 * (18 + 5));                // 4 x 4 outputs, 18 deep
  expect_layer(all[1], 7 * 2 * (4 + 4), 12 * 1 * (16 + 4), 1 * 2 * (27 + 5)); // 2 x 2 outputs, 27 deep
  EXPECT_EQ(weights_of(two_convolutions()[1]), 135);
}

TEST(PartitionedCycles, OfEachReadingByHand) {
  EXPECT_EQ(under([](Reading &r) { r.walk = GradientWalk::kOutputs; })[1].dx, 12 * 1 * (4 + 4));
  EXPECT_EQ(under([](Reading &r) { r.walk = GradientWalk::kColumns; })[1].dx, 2 * 9 * (4 + 4));
  EXPECT_EQ(under([](Reading &r) { r.first_dx = true; })[0].dx, 7 * 1 * (36 + 4));
  EXPECT_EQ(under([](Reading &r) { r.outputs = Outputs::kPadded; })[0].forward, 5 * 1 * (36 + 4));
  EXPECT_EQ(under([](Reading &r) { r.dw = Fill::kLoad; })[1].dw, 1 * 2 * (27 + 4));
  EXPECT_EQ(under([](Reading &r) { r.forward = Fill::kNone; })[1].forward, 7 * 2 * 4);
  EXPECT_EQ(under([](Reading &r) { r.dx = Fill::kNone; })[1].dx, 12 * 16);
}

TEST(PartitionedCycles, GrowWithTheProductAndShrinkWithTheArray) {
  constexpr unsigned kSeed = 25;
  std::mt19937 random(kSeed);
  SCOPED_TRACE(kSeed);
  const auto draw = [&random] { return std::uniform_int_distribution<std::uint32_t>(1, 300)(random); };
  for (int i = 0; i < 1000; ++i) {
    const Product product{draw(), draw(), draw()};
    const Array array{draw(), draw()};
    for (const Dataflow dataflow : {Dataflow::kWeightStationary, Dataflow::kOutputStationary}) {
      const double base = product_cycles(array, product, dataflow, Fill::kNone);
      const auto &[m, k, n] = product;
      for (const Product &more : {Product{m + 1, k, n}, Product{m, k + 1, n}, Product{m, k, n + 1}})
        EXPECT_GE(product_cycles(array, more, dataflow, Fill::kNone), base);
      for (const Array &larger : {Array{array.rows + 1, array.cols}, Array{array.rows, array.cols + 1}})
        EXPECT_LE(product_cycles(larger, product, dataflow, Fill::kNone), base);
      // No element of the array does two multiply-adds in a cycle.
      EXPECT_GE(base * array.rows * array.cols, 1.0 * m * k * n);
      EXPECT_LE(base, product_cycles(array, product, dataflow, Fill::kLoad));
    }
  }
}

TEST(PartitionedCycles, BadInputIsNamed) {
  EXPECT_EQ(problem_of([] {
              product_cycles({0, 3}, {1, 1, 1}, Dataflow::kWeightStationary, Fill::kNone);
            }),
            "an array of 0 x 3; rows and columns must be above 0");
  EXPECT_EQ(problem_of([] {
              product_cycles({2, 3}, {1, 0, 1}, Dataflow::kWeightStationary, Fill::kNone);
            }),
            "a product of 1 x 0 x 1; each must be above 0");
  EXPECT_EQ(problem_of([] { network_cycles({}, kArray, {}); }), "a network without layers; give it at least one");
  const auto problem = [](const LayerShape &layer) { return problem_of([&] { network_cycles({layer}, kArray, {}); }); };
  EXPECT_EQ(problem({"c", 2, 2, 1, 1, 3, 1, 2, 2}),
            "layer 'c': a kernel of 3 does not fit 2 pixels; make the image larger");
  EXPECT_EQ(problem({"c", 0, 2, 1, 1, 1, 1, 0, 0}),
            "layer 'c': the image has no pixels; height and width must be above 0");
  EXPECT_EQ(problem({"c", 2, 2, 0, 1, 1, 1, 0, 0}), "layer 'c': channels and filters must be above 0");
  EXPECT_EQ(problem({"c", 2, 2, 1, 1, 1, 0, 0, 0}), "layer 'c': kernel and stride must be above 0");
}

} // namespace gradweave::partitioned
