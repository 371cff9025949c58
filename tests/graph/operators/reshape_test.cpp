#include "operator_check.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gradweave::graph {
namespace {

using Numbers = std::vector<std::int64_t>;

Build reshaped(const Shape &x, const Attributes &attributes, const std::string &op = "Reshape") {
  return [=](Builder &b) { return b.add(op, {b.parameter("x", x, "zeros")}, attributes, "y"); };
}

Shape shape_of(const Build &build) {
  Graph graph;
  Builder b(graph, operators());
  return b.shape(build(b));
}

const Holds reshape_holds(
    {"Reshape", "Flatten"},
    {derivative(reshaped({2, 3, 4}, {{"shape", Numbers{4, -1}}})), derivative(reshaped({2, 3, 4}, {}, "Flatten")),
     near_fp64(reshaped({2, 3}, {{"shape", Numbers{6}}})), near_fp64(reshaped({2, 3}, {}, "Flatten")),
     exact(reshaped({2, 2}, {{"shape", Numbers{4}}}), {{{"x", {1, -0.0F, 3, 4}}}}, {1, -0.0F, 3, 4}),
     exact(reshaped({1, 2, 2}, {}, "Flatten"), {{{"x", {1, -0.0F, 3, 4}}}}, {1, -0.0F, 3, 4})});

TEST(Reshape, TakesZeroForKeptAndMinusOneForWhatIsLeft) {
  EXPECT_EQ(shape_of(reshaped({2, 3, 4}, {{"shape", Numbers{0, -1}}})), (Shape{2, 12}));
  EXPECT_EQ(shape_of(reshaped({2, 3, 4}, {{"shape", Numbers{-1, 0, 2, 2}}})), (Shape{2, 3, 2, 2}));
  EXPECT_EQ(shape_of(reshaped({1}, {{"shape", Numbers{}}})), Shape{});
}

TEST(Flatten, CutsAtTheAxis) {
  EXPECT_EQ(shape_of(reshaped({2, 3, 4}, {}, "Flatten")), (Shape{2, 12}));
  EXPECT_EQ(shape_of(reshaped({2, 3, 4}, {{"axis", std::int64_t{0}}}, "Flatten")), (Shape{1, 24}));
  EXPECT_EQ(shape_of(reshaped({2, 3, 4}, {{"axis", std::int64_t{3}}}, "Flatten")), (Shape{24, 1}));
  EXPECT_EQ(shape_of(reshaped({2, 3, 4}, {{"axis", std::int64_t{-1}}}, "Flatten")), (Shape{6, 4}));
}

std::string reshape_error(const Shape &x, const Attributes &attributes, const char *op = "Reshape") {
  return build_error([&](Builder &b) {
    b.at("net.graph:7");
    return b.add(op, {b.parameter("x", x, "zeros")}, attributes, "y");
  });
}

TEST(Reshape, RefusesOtherNumbersOfElements) {
  for (const Numbers &shape : {Numbers{5, 2}, Numbers{-1, 5}, Numbers{-1, -1}, Numbers{3, 2, 0}, Numbers{6, -2},
                               Numbers{std::numeric_limits<std::int64_t>::max(), 2}})
    EXPECT_EQ(reshape_error({3, 4}, {{"shape", shape}}),
              "net.graph:7: op 'y' (Reshape): 12 elements of [3, 4] cannot become " + to_string(Attribute(shape)) +
                  "; 0 keeps a dimension, and at most one -1 stands for what is left");
}

TEST(Flatten, RefusesAnAxisThatIsNone) {
  EXPECT_EQ(reshape_error({3, 4}, {{"axis", std::int64_t{3}}}, "Flatten"),
            "net.graph:7: op 'y' (Flatten): attribute 'axis' = 3 must be from -2 to 2 for x [3, 4]");
}

} // namespace
} // namespace gradweave::graph
