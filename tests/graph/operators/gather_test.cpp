#include "operator_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave::graph {
namespace {

using Numbers = std::vector<std::int64_t>;

Build gather(const Shape &x, const Shape &indices, std::int64_t axis) {
  return [=](Builder &b) {
    const TensorId table = b.parameter("x", x, "zeros");
    return b.add("Gather", {table, b.input("i", ElementType::kInt32, indices)}, {{"axis", axis}}, "y");
  };
}

Build gather_gradient(const Shape &dy, const Shape &indices, std::int64_t axis, Numbers shape, bool initial = false) {
  return [=](Builder &b) {
    std::vector<TensorId> inputs{b.input("dy", ElementType::kFp32, dy), b.input("i", ElementType::kInt32, indices)};
    if (initial) inputs.push_back(b.input("initial", ElementType::kFp32, Shape({shape.begin(), shape.end()})));
    return b.add("GatherGradient", inputs, {{"axis", axis}, {"shape", shape}});
  };
}

OperatorCheck below(std::int32_t rows) {
  OperatorCheck check;
  check.indices = rows;
  return check;
}

/// Row 1 is named twice: 2^24 + 1 + 1, which rounds back twice.
const Given kTwice{{{"dy", {16777216, 2, 3, 4, 1, 5, 1, 6}}}, {{"i", {1, 0, 1, 1}}}};

const Given kContinued{{{"dy", {1, 2, 3, 4, 1, 5, 1, 4}}, {"initial", {0, 0, 16777216, 2}}}, {{"i", {1, 0, 1, 1}}}};

const Holds gather_holds(
    {"Gather", "GatherGradient"},
    {derivative(gather({5, 3}, {2, 4}, 0), below(5)), derivative(gather({2, 5, 3}, {4}, 1), below(5)),
     derivative(gather({2, 5}, {3, 2}, -1), below(5)), near_fp64(gather({5, 3}, {2, 4}, 0), below(5)),
     near_fp64(gather_gradient({2, 4, 3}, {2, 4}, 0, {5, 3}), below(5)),
     exact(gather({3, 2}, {2}, 0), {{{"x", {1, 2, 3, 4, 5, 6}}}, {{"i", {2, 0}}}}, {5, 6, 1, 2}),
     exact(gather({2, 3}, {2}, 1), {{{"x", {1, 2, 3, 4, 5, 6}}}, {{"i", {2, 0}}}}, {3, 1, 6, 4}),
     exact(gather_gradient({4, 2}, {4}, 0, {2, 2}), kTwice, {3, 4, 16777216, 13}),
     near_fp64(gather_gradient({2, 4, 3}, {2, 4}, 0, {5, 3}, true), below(5)),
     exact(gather_gradient({4, 2}, {4}, 0, {2, 2}, true), kContinued, {3, 4, 16777216, 13}),
     exact(gather_gradient({2, 2}, {2}, 1, {2, 3}), {{{"dy", {1, 2, 3, 4}}}, {{"i", {2, 2}}}}, {0, 0, 3, 0, 0, 7})});

TEST(Gather, RefusesAnIndexThatIsNone) {
  for (const std::int32_t index : {-1, 3}) {
    try {
      run_contract(gather({3, 2}, {2}, 0), {}, {{"i", {0, index}}});
      FAIL();
    } catch (const GraphError &error) {
      EXPECT_EQ(error.what(),
                "op 'y' (Gather): index " + std::to_string(index) + " at position 1 of 'i' is none of 0 to 2");
    }
  }
}

TEST(Gather, RefusesWhatDoesNotFit) {
  const auto error = [](const Build &build) {
    return build_error([&](Builder &b) {
      b.at("net.graph:7");
      return build(b);
    });
  };
  EXPECT_EQ(error(gather({3, 2}, {2}, 2)),
            "net.graph:7: op 'y' (Gather): axis 2 is none of [3, 2], whose axes are -2 to 1");
  EXPECT_EQ(error(gather_gradient({4, 2}, {3}, 0, {2, 2})),
            "net.graph:7: op 'GatherGradient' (GatherGradient): dy is [4, 2]; of x [2, 2] and indices [3] it must be "
            "[3, 2]");
}

} // namespace
} // namespace gradweave::graph
