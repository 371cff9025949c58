#include "operator_check.hpp"

#include "sw_models/functions/fp32.hpp"
#include "sw_models/functions/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace gradweave::graph {
namespace {

Build dropout(const Shape &x, double ratio, std::int64_t stream = 7) {
  return [=](Builder &b) {
    const TensorId in = b.parameter("x", x, "zeros");
    return b.add("Dropout", {in, b.input("key", ElementType::kInt32, {2})}, {{"ratio", ratio}, {"stream", stream}},
                 "y");
  };
}

/// By the rule of N20, element by element.
std::vector<float> dropped(const Given &given) {
  const std::vector<std::int32_t> &key = given.index.at("key");
  std::vector<float> y = given.real.at("x");
  functions::Fp32 policy;
  const functions::RandomKey random =
      functions::random_key(static_cast<std::uint32_t>(key[0]), static_cast<std::uint32_t>(key[1]), 7);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::uint32_t bits = functions::random_bits(policy, random, static_cast<std::uint32_t>(i));
    y[i] = bits / 2 < 0x66666666U ? y[i] * 1.25F : 0.0F; // 0.8 of 2^31
  }
  return y;
}

OperatorCheck keys() {
  OperatorCheck check;
  check.indices = 1000;
  return check;
}

const Holds dropout_holds({"Dropout"},
                          {derivative(dropout({5, 7}, 0.4), keys()), near_fp64(dropout({2, 3}, 0.0), keys()),
                           near_fp64(dropout({9, 9}, 0.2), keys()),
                           exact(dropout({2}, 0.0), {{{"x", {3, NAN}}}, {{"key", {1, 2}}}}, {3, NAN}),
                           replayed(dropout({50, 3}, 0.2), keys(), dropped)});

TEST(Dropout, KeepsAboutTheShareAndScalesIt) {
  const auto y = run_contract(dropout({100000}, 0.25), {{"x", std::vector<float>(100000, 3.0F)}}, {{"key", {5, 6}}});
  const auto kept = std::count(y.begin(), y.end(), 4.0F);
  EXPECT_EQ(kept + std::count(y.begin(), y.end(), 0.0F), 100000);
  EXPECT_NEAR(static_cast<double>(kept), 75000, 600); // four standard deviations
}

TEST(Dropout, OtherSeedsStepsAndStreamsHaveOtherMasks) {
  const RealValues ones{{"x", std::vector<float>(64, 1.0F)}};
  const auto mask = [&](std::int32_t seed, std::int32_t step, std::int64_t stream) {
    return run_contract(dropout({64}, 0.5, stream), ones, {{"key", {seed, step}}});
  };
  EXPECT_EQ(mask(1, 2, 3), mask(1, 2, 3));
  EXPECT_NE(mask(1, 2, 3), mask(4, 2, 3));
  EXPECT_NE(mask(1, 2, 3), mask(1, 4, 3));
  EXPECT_NE(mask(1, 2, 3), mask(1, 2, 4));
}

TEST(Dropout, DropsNanAndInfinityToPlusZero) {
  const auto y = run_contract(dropout({64}, 0.5), {{"x", std::vector<float>(64, NAN)}}, {{"key", {1, 2}}});
  EXPECT_GT(std::count(y.begin(), y.end(), 0.0F), 0);
}

TEST(Dropout, RefusesWhatDoesNotFit) {
  const auto error = [](const Build &build) {
    return build_error([&](Builder &b) {
      b.at("net.graph:7");
      return build(b);
    });
  };
  const std::string where = "net.graph:7: op 'y' (Dropout): ";
  EXPECT_EQ(error(dropout({2}, 1.0)), where + "attribute 'ratio' = 1.0 must be at least 0 and below 1");
  EXPECT_EQ(error(dropout({2}, 0.5, -1)), where + "attribute 'stream' = -1 must be a whole number of 32 bits");
  EXPECT_EQ(error([](Builder &b) {
              return b.add("Dropout", {b.parameter("x", {2}, "zeros"), b.input("k", ElementType::kInt32, {3})},
                           {{"ratio", 0.5}, {"stream", std::int64_t{1}}}, "y");
            }),
            where + "key is [3]; it must be [2], seed and step");
}

} // namespace
} // namespace gradweave::graph
