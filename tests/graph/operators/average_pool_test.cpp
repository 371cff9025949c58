#include "operator_check.hpp"

#include "base/random/dice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace gradweave::graph {
namespace {

using Numbers = std::vector<std::int64_t>;

Attributes averaging(Numbers kernel, Numbers strides, Numbers pads, std::int64_t count_pad) {
  return {{"kernel_shape", std::move(kernel)},
          {"strides", std::move(strides)},
          {"pads", std::move(pads)},
          {"count_include_pad", count_pad}};
}

Attributes of_image(Attributes attributes, std::int64_t rows, std::int64_t cols) {
  attributes.set("image", Numbers{rows, cols});
  return attributes;
}

Build average(const Shape &x, const Attributes &attributes, const std::string &op = "AveragePool") {
  return [=](Builder &b) { return b.add(op, {b.parameter("x", x, "zeros")}, attributes, "y"); };
}

const Attributes kCounted = averaging({3, 3}, {2, 2}, {1, 1, 1, 1}, 1);
const Attributes kUncounted = averaging({3, 2}, {1, 2}, {2, 0, 0, 1}, 0);

const Attributes kWide = averaging({5, 5}, {1, 1}, {2, 2, 2, 2}, 0),
                 kWideCounted = averaging({7, 5}, {2, 1}, {6, 2, 3, 4}, 1);

/// One window of 3 whose outer pixels are padding on one side: (1, 2), (1, 2, 3), (2, 3).
const Attributes kLine = averaging({1, 3}, {1, 1}, {0, 1, 0, 1}, 0);
const float kThird = 1.0F / 3.0F;

const Holds average_holds(
    {"AveragePool", "AveragePoolGradient"},
    {derivative(average({2, 5, 4, 3}, kCounted)), derivative(average({1, 4, 5, 2}, kUncounted)),
     near_fp64(average({2, 7, 6, 5}, kCounted)), near_fp64(average({2, 7, 6, 5}, kUncounted)),
     near_fp64(average({2, 3, 2, 3}, of_image(kCounted, 5, 4), "AveragePoolGradient")),
     derivative(average({1, 6, 5, 2}, kWide)), derivative(average({1, 9, 6, 2}, kWideCounted)),
     near_fp64(average({2, 7, 6, 3}, kWide)),
     exact(average({1, 1, 3, 1}, kLine), {{{"x", {1, 2, 4}}}}, {1.5F, 7 * kThird, 3}),
     exact(average({1, 1, 3, 1}, of_image(kLine, 1, 3), "AveragePoolGradient"), {{{"x", {2, 7, 4}}}},
           {std::fma(7.0F, kThird, 1.0F), 2 + std::fma(7.0F, kThird, 1.0F), std::fma(7.0F, kThird, 0.0F) + 2})});

const Holds global_holds({"GlobalAveragePool", "GlobalAveragePoolGradient"},
                         {derivative(average({2, 3, 5, 4}, {}, "GlobalAveragePool")),
                          near_fp64(average({2, 3, 5, 4}, {}, "GlobalAveragePool")),
                          near_fp64(average({2, 1, 1, 3}, {{"image", Numbers{3, 5}}}, "GlobalAveragePoolGradient")),
                          exact(average({1, 1, 3, 1}, {}, "GlobalAveragePool"), {{{"x", {16777216, 1, 1}}}},
                                {16777216 * kThird}),
                          exact(average({1, 1, 1, 1}, {{"image", Numbers{1, 3}}}, "GlobalAveragePoolGradient"),
                                {{{"x", {7}}}}, {7 * kThird, 7 * kThird, 7 * kThird})});

TEST(AveragePool, PaddingCountsIfAskedFor) {
  const auto y = run_contract(average({1, 1, 2, 1}, averaging({1, 2}, {1, 1}, {0, 1, 0, 0}, 1)), {{"x", {6, 8}}});
  EXPECT_EQ(y, (std::vector<float>{3, 7}));
  const auto z = run_contract(average({1, 1, 2, 1}, averaging({1, 2}, {1, 1}, {0, 1, 0, 0}, 0)), {{"x", {6, 8}}});
  EXPECT_EQ(z, (std::vector<float>{6, 7}));
}

TEST(AveragePool, WideWindowsAddAscending) {
  const int size = 9, kernel = 9, pad = 4;
  Dice dice(3);
  for (const bool counted : {false, true}) {
    const Attributes attributes = averaging({kernel, kernel}, {1, 1}, {pad, pad, pad, pad}, counted ? 1 : 0);
    std::vector<float> x, y, dx(std::size_t{size} * size);
    for (std::size_t i = 0; i < dx.size(); ++i)
      x.push_back(std::ldexp(1.0F, static_cast<int>(dice.below(26))));
    for (int o = 0; o < size * size; ++o) {
      const auto for_window = [&](const auto &visit) {
        for (int r = std::max(o / size - pad, 0); r <= std::min(o / size + pad, size - 1); ++r)
          for (int c = std::max(o % size - pad, 0); c <= std::min(o % size + pad, size - 1); ++c)
            visit(static_cast<std::size_t>(r * size + c));
      };
      float sum = 0, pixels = 0;
      for_window([&](std::size_t at) { sum += x[at], ++pixels; });
      const float share = 1 / (counted ? static_cast<float>(kernel * kernel) : pixels);
      y.push_back(sum * share);
      for_window([&](std::size_t at) { dx[at] = std::fma(x[static_cast<std::size_t>(o)], share, dx[at]); });
    }
    EXPECT_EQ(run_contract(average({1, size, size, 1}, attributes), {{"x", x}}), y);
    EXPECT_EQ(
        run_contract(average({1, size, size, 1}, of_image(attributes, size, size), "AveragePoolGradient"), {{"x", x}}),
        dx);
  }
}

TEST(AveragePool, AddsTapsAscending) {
  const auto y =
      run_contract(average({1, 1, 4, 1}, averaging({1, 4}, {1, 1}, {0, 0, 0, 0}, 0)), {{"x", {16777216, 1, 1, 1}}});
  EXPECT_EQ(y, std::vector<float>{4194304}); // another order gives more
}

TEST(AveragePool, InfinityAndNanStay) {
  const auto y = run_contract(average({1, 1, 4, 1}, averaging({1, 2}, {1, 2}, {0, 0, 0, 0}, 0)),
                              {{"x", {INFINITY, 1, INFINITY, -INFINITY}}});
  EXPECT_EQ(y[0], INFINITY);
  EXPECT_TRUE(std::isnan(y[1]));
}

std::string average_error(const char *op, const Shape &x, const Attributes &attributes) {
  return build_error([&](Builder &b) {
    b.at("net.graph:7");
    return b.add(op, {b.parameter("x", x, "zeros")}, attributes, "y");
  });
}

TEST(AveragePool, RefusesWhatDoesNotFit) {
  const std::string where = "net.graph:7: op 'y' ";
  EXPECT_EQ(average_error("AveragePool", {1, 4, 4, 1}, averaging({2, 2}, {1, 1}, {0, 0, 0, 0}, 2)),
            where + "(AveragePool): attribute 'count_include_pad' = 2 must be 0 or 1");
  EXPECT_EQ(average_error("AveragePoolGradient", {1, 4, 4, 1}, of_image(kLine, 4, 5)),
            where + "(AveragePoolGradient): dy is [1, 4, 4, 1]; of an image [1, 4, 5, 1] it must be [1, 4, 5, 1]");
  EXPECT_EQ(average_error("GlobalAveragePool", {4, 4}, {}),
            where + "(GlobalAveragePool): x is [4, 4]; it must be [batch, rows, columns, channels]");
  EXPECT_EQ(average_error("GlobalAveragePoolGradient", {1, 4, 4, 1}, {{"image", Numbers{1, 3}}}),
            where + "(GlobalAveragePoolGradient): dy is [1, 4, 4, 1]; it must have one pixel an image");
}

} // namespace
} // namespace gradweave::graph
