#include "operator_check.hpp"

#include "base/random/dice.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace gradweave::graph {
namespace {

using Numbers = std::vector<std::int64_t>;

Attributes window(Numbers kernel, Numbers strides, Numbers pads) {
  return {{"kernel_shape", std::move(kernel)}, {"strides", std::move(strides)}, {"pads", std::move(pads)}};
}

Build max_pool(const Shape &x, const Attributes &attributes) {
  return [=](Builder &b) { return b.add("MaxPool", {b.parameter("x", x, "zeros")}, attributes, "y"); };
}

Build max_pool_gradient(const Shape &dy, const Shape &x, const Attributes &attributes) {
  return [=](Builder &b) {
    const TensorId gradient = b.input("dy", ElementType::kFp32, dy);
    return b.add("MaxPoolGradient", {gradient, b.input("x", ElementType::kFp32, x)}, attributes);
  };
}

const Attributes kThreeByThree = window({3, 3}, {2, 2}, {1, 1, 1, 1}); // as ResNet's
const Attributes kWide = window({5, 5}, {1, 1}, {2, 2, 2, 2});
const Attributes kUneven = window({2, 3}, {1, 2}, {1, 0, 0, 2});

/// Window by window, scattering: each adds to the first of its largest, so that an element's sum ascends by window.
std::vector<float> scattered(const Given &given) {
  const std::vector<float> &x = given.real.at("x"), &dy = given.real.at("dy");
  std::vector<float> dx(x.size());
  const int height = 5, width = 4, out_height = 3, out_width = 2, channels = 3; // of kThreeByThree
  for (int o = 0; o < 2 * out_height * out_width; ++o)
    for (int i = 0; i < channels; ++i) {
      const int b = o / (out_height * out_width), row = o / out_width % out_height * 2 - 1, col = o % out_width * 2 - 1;
      int best = -1;
      for (int r = row; r < row + 3; ++r)
        for (int c = col; c < col + 3; ++c) {
          if (r < 0 || r >= height || c < 0 || c >= width) continue;
          const int at = ((b * height + r) * width + c) * channels + i;
          if (best < 0 || x[static_cast<std::size_t>(at)] > x[static_cast<std::size_t>(best)]) best = at;
        }
      dx[static_cast<std::size_t>(best)] +=
          dy[static_cast<std::size_t>(o) * static_cast<std::size_t>(channels) + static_cast<std::size_t>(i)];
    }
  return dx;
}

const Holds max_pool_holds({"MaxPool", "MaxPoolGradient"},
                           {derivative(max_pool({2, 5, 4, 3}, kThreeByThree)),
                            derivative(max_pool({1, 4, 5, 2}, kUneven)), derivative(max_pool({2, 5, 6, 2}, kWide)),
                            near_fp64(max_pool({2, 7, 6, 5}, kWide)), near_fp64(max_pool({2, 7, 6, 5}, kThreeByThree)),
                            near_fp64(max_pool_gradient({2, 3, 2, 3}, {2, 5, 4, 3}, kThreeByThree)),
                            near_fp64(max_pool_gradient({2, 3, 2, 3}, {2, 5, 4, 3}, kThreeByThree),
                                      {1, -2, -0.1}), // where 0 would be the largest
                            exact(max_pool_gradient({1, 1, 1, 1}, {1, 1, 2, 1}, window({1, 2}, {1, 1}, {0, 0, 0, 0})),
                                  {{{"dy", {5}}, {"x", {1, 2}}}}, {0, 5}),
                            exact(max_pool({1, 2, 2, 1}, window({2, 2}, {1, 1}, {0, 0, 0, 0})),
                                  {{{"x", {-3, -1, -2, -4}}}}, {-1}),
                            replayed(max_pool_gradient({2, 3, 2, 3}, {2, 5, 4, 3}, kThreeByThree), {5}, scattered)});

TEST(MaxPool, FirstOfEqualElementsTakesTheGradient) {
  const auto dx = run_contract(max_pool_gradient({1, 1, 2, 1}, {1, 2, 3, 1}, window({2, 2}, {1, 1}, {0, 0, 0, 0})),
                               {{"dy", {3, 5}}, {"x", {7, 7, 7, 7, 7, 7}}});
  EXPECT_EQ(dx, (std::vector<float>{3, 5, 0, 0, 0, 0}));
}

TEST(MaxPool, FirstZeroWinsWhateverItsSign) {
  const auto y =
      run_contract(max_pool({1, 1, 2, 2}, window({1, 2}, {1, 1}, {0, 0, 0, 0})), {{"x", {-0.0F, 0.0F, 0.0F, -0.0F}}});
  EXPECT_TRUE(std::signbit(y[0]));
  EXPECT_FALSE(std::signbit(y[1]));
}

TEST(MaxPool, FirstNanWinsAndTakesTheGradient) {
  const Attributes whole = window({1, 4}, {1, 1}, {0, 0, 0, 0});
  const std::vector<float> x = {HUGE_VALF, fp32_from_bits(0xFFC12345U), 3, NAN};
  const auto y = run_contract(max_pool({1, 1, 4, 1}, whole), {{"x", x}});
  EXPECT_EQ(bits_of_fp32(y[0]), kFp32Nan);
  const auto dx = run_contract(max_pool_gradient({1, 1, 1, 1}, {1, 1, 4, 1}, whole), {{"dy", {2}}, {"x", x}});
  EXPECT_EQ(dx, (std::vector<float>{0, 2, 0, 0}));
}

TEST(MaxPool, PaddingIsNoElement) {
  const auto y = run_contract(max_pool({1, 1, 1, 1}, window({3, 3}, {1, 1}, {1, 1, 1, 1})), {{"x", {-HUGE_VALF}}});
  EXPECT_EQ(y, std::vector<float>{-HUGE_VALF});
}

TEST(MaxPool, GradientsOfWindowsAddAscending) {
  // 2^24 + 1 + 1 rounds back twice; another order gives 2^24 + 2.
  const auto dx = run_contract(max_pool_gradient({1, 1, 3, 1}, {1, 1, 3, 1}, window({1, 3}, {1, 1}, {0, 1, 0, 1})),
                               {{"dy", {16777216, 1, 1}}, {"x", {0, 1, 0}}});
  EXPECT_EQ(dx, (std::vector<float>{0, 16777216, 0}));
}

std::string pool_error(const Shape &x, const Attributes &attributes) {
  return build_error([&](Builder &b) {
    b.at("net.graph:7");
    return b.add("MaxPool", {b.parameter("x", x, "zeros")}, attributes, "y");
  });
}

/// A window whose padding makes as many rectangles of alike pixels as there are pixels, nearly.
struct Wide {
  int rows, cols, kernel, stride, pad;

  Shape image() const { return {1, static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(cols), 1}; }
  int outputs(int size) const { return (size + 2 * pad - kernel) / stride + 1; }
  Shape result() const {
    return {1, static_cast<std::uint32_t>(outputs(rows)), static_cast<std::uint32_t>(outputs(cols)), 1};
  }
  Attributes attributes() const { return window({kernel, kernel}, {stride, stride}, {pad, pad, pad, pad}); }

  /// Which element of the image is the largest of each window, by plain loops.
  std::vector<std::size_t> largest(const std::vector<float> &x) const {
    std::vector<std::size_t> all;
    for (int o = 0; o < outputs(rows) * outputs(cols); ++o) {
      const int row = o / outputs(cols) * stride - pad, col = o % outputs(cols) * stride - pad;
      std::optional<std::size_t> best;
      for (int r = std::max(row, 0); r < std::min(row + kernel, rows); ++r)
        for (int c = std::max(col, 0); c < std::min(col + kernel, cols); ++c)
          if (const auto at = static_cast<std::size_t>(r * cols + c);
              !best || (!std::isnan(x[*best]) && !(x[at] <= x[*best])))
            best = at;
      all.push_back(*best);
    }
    return all;
  }
};

TEST(MaxPool, WideWindowsTakeTheFirstLargestAndAddAscending) {
  const std::vector<float> some{-0.0F, 0.0F, 1, 1, 1, 2, -HUGE_VALF, 3, NAN};
  Dice dice(7);
  for (const Wide &wide : {Wide{13, 13, 13, 1, 6}, Wide{9, 14, 9, 1, 4}, Wide{6, 7, 5, 1, 2}, Wide{7, 5, 5, 1, 4},
                           Wide{20, 17, 9, 2, 4}, Wide{11, 16, 7, 3, 6}})
    for (const std::size_t values : {some.size(), some.size() - 1}) { // with NaN, and without
      std::vector<float> x, dy;
      for (std::size_t i = 0; i < wide.image().elements(); ++i)
        x.push_back(some[dice.below(values)]);
      for (std::size_t i = 0; i < wide.result().elements(); ++i)
        dy.push_back(std::ldexp(1.0F, static_cast<int>(dice.below(26))));
      std::vector<float> y, dx(x.size());
      const std::vector<std::size_t> largest = wide.largest(x);
      for (std::size_t o = 0; o < largest.size(); ++o) {
        y.push_back(x[largest[o]]);
        dx[largest[o]] += dy[o];
      }
      const auto got = run_contract(max_pool(wide.image(), wide.attributes()), {{"x", x}});
      for (std::size_t o = 0; o < y.size(); ++o)
        ASSERT_EQ(bits_of_fp32(got[o]), std::isnan(y[o]) ? kFp32Nan : bits_of_fp32(y[o])) << wide.kernel << ' ' << o;
      EXPECT_EQ(run_contract(max_pool_gradient(wide.result(), wide.image(), wide.attributes()), {{"dy", dy}, {"x", x}}),
                dx);
    }
}

TEST(MaxPool, RefusesWhatDoesNotFit) {
  const std::string where = "net.graph:7: op 'y' (MaxPool): ";
  EXPECT_EQ(pool_error({2, 5}, kThreeByThree), where + "x is [2, 5]; it must be [batch, rows, columns, channels]");
  EXPECT_EQ(pool_error({1, 4, 4, 1}, window({2, 2}, {1, 1}, {0, 2, 0, 0})),
            where +
                "attribute 'pads' = [0, 2, 0, 0] must be below 'kernel_shape' = [2, 2], or a window lies in padding "
                "altogether");
  EXPECT_EQ(pool_error({1, 2, 9, 1}, window({3, 3}, {1, 1}, {0, 0, 0, 0})),
            where +
                "the kernel spans 3 x 3 pixels and the padded image has 2 x 9; pad more, or take a smaller kernel or "
                "dilation");
  EXPECT_EQ(pool_error({1, 4, 4, 1}, {}), where + "attribute 'kernel_shape' is missing: [rows, columns] of a window");
  EXPECT_EQ(pool_error({1, 4, 4, 1}, window({3}, {1, 1}, {0, 0, 0, 0})),
            where + "attribute 'kernel_shape' = [3] must be 2 whole numbers from 1 to 65535");
}

} // namespace
} // namespace gradweave::graph
