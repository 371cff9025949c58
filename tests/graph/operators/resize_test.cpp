#include "operator_check.hpp"

#include <gtest/gtest.h>

namespace gradweave::graph {
namespace {

using Numbers = std::vector<std::int64_t>;

Build resize(const std::string &op, const Shape &x, Numbers scales) {
  return [=](Builder &b) { return b.add(op, {b.parameter("x", x, "zeros")}, {{"scales", scales}}, "y"); };
}

const Holds
    resize_holds({"Resize", "ResizeGradient"},
                 {derivative(resize("Resize", {2, 3, 2, 3}, {2, 3})), near_fp64(resize("Resize", {2, 3, 2, 3}, {2, 3})),
                  near_fp64(resize("ResizeGradient", {2, 4, 6, 3}, {2, 3})),
                  exact(resize("Resize", {1, 2, 1, 2}, {1, 2}), {{{"x", {1, 2, 3, 4}}}}, {1, 2, 1, 2, 3, 4, 3, 4}),
                  exact(resize("Resize", {1, 1, 2, 1}, {2, 1}), {{{"x", {1, 2}}}}, {1, 2, 1, 2}),
                  exact(resize("ResizeGradient", {1, 2, 4, 1}, {2, 2}), {{{"x", {16777216, 1, 2, 3, 1, 1, 4, 5}}}},
                        {16777216, 14})}); // 2^24 + 1 rounds back each time

TEST(Resize, RefusesWhatDoesNotFit) {
  const auto error = [](const char *op, const Shape &x, const Numbers &scales) {
    return build_error([&](Builder &b) {
      b.at("net.graph:7");
      return resize(op, x, scales)(b);
    });
  };
  EXPECT_EQ(error("Resize", {2, 3}, {2, 2}),
            "net.graph:7: op 'y' (Resize): x is [2, 3]; it must be [batch, rows, columns, channels]");
  EXPECT_EQ(error("Resize", {1, 2, 3, 1}, {2, 0}),
            "net.graph:7: op 'y' (Resize): attribute 'scales' = [2, 0] must be 2 whole numbers from 1 to 65535");
  EXPECT_EQ(error("ResizeGradient", {1, 2, 3, 1}, {2, 2}),
            "net.graph:7: op 'y' (ResizeGradient): dy is [1, 2, 3, 1]; its rows and columns must be multiples of the "
            "blocks' 2 x 2");
}

} // namespace
} // namespace gradweave::graph
