// Operators that only move elements: Transpose, Concat, Split, Slice, Pad, Expand.
#include "operator_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace gradweave::graph {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Inputs x0, x1, ... and output `o`.
Build moved(const std::string &op, const std::vector<Shape> &shapes, const Attributes &attributes, std::size_t o = 0,
            std::size_t outputs = 0) {
  return [=](Builder &b) {
    std::vector<TensorId> inputs;
    for (const Shape &shape : shapes)
      inputs.push_back(b.parameter("x" + std::to_string(inputs.size()), shape, "zeros"));
    return b.add_all(op, inputs, attributes, "y", outputs)[o];
  };
}

/// first, first + 1, ...
std::vector<float> count_from(float first, std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

const Attributes kTurn{{"perm", Numbers{2, 0, 1}}};
const Holds
    transpose_holds({"Transpose"},
                    {derivative(moved("Transpose", {{2, 3, 4}}, kTurn)),
                     derivative(moved("Transpose", {{2, 3, 4, 2}}, {{"perm", Numbers{0, 2, 1, 3}}})),
                     near_fp64(moved("Transpose", {{2, 3, 4}}, kTurn)),
                     exact(moved("Transpose", {{1, 2, 3}}, kTurn), {{{"x0", {1, 2, 3, 4, 5, 6}}}}, {1, 4, 2, 5, 3, 6}),
                     exact(moved("Transpose", {{}}, {{"perm", Numbers{}}}), {{{"x0", {7}}}}, {7})});

const Attributes kAxis1{{"axis", std::int64_t{1}}};
const Holds concat_holds({"Concat"}, {derivative(moved("Concat", {{2, 3, 2}, {2, 1, 2}, {2, 2, 2}}, kAxis1)),
                                      derivative(moved("Concat", {{2, 3}}, {{"axis", std::int64_t{-1}}})),
                                      near_fp64(moved("Concat", {{2, 3}, {2, 1}}, kAxis1)),
                                      exact(moved("Concat", {{2, 2}, {2, 1}}, kAxis1),
                                            {{{"x0", {1, 2, 3, 4}}, {"x1", {5, 6}}}}, {1, 2, 5, 3, 4, 6})});

Attributes split_by(Numbers sizes, std::int64_t axis) { return {{"axis", axis}, {"split", std::move(sizes)}}; }

/// All parts of a split, of which some feed nothing.
Build used_parts(const std::vector<std::size_t> &used) {
  return [=](Builder &b) {
    const auto parts = b.add_all("Split", {b.parameter("x", {2, 6}, "zeros")}, split_by({1, 2, 3}, -1), "s", 3);
    std::vector<TensorId> inputs;
    for (const std::size_t part : used)
      inputs.push_back(parts[part]);
    return b.add("Concat", inputs, {{"axis", std::int64_t{1}}}, "y");
  };
}

const Holds split_holds({"Split"}, {derivative(used_parts({2, 0, 1})), derivative(used_parts({1})),
                                    near_fp64(moved("Split", {{4, 3}}, split_by({1, 3}, 0), 0, 2)),
                                    near_fp64(moved("Split", {{4, 3}}, split_by({1, 3}, 0), 1, 2)),
                                    exact(moved("Split", {{2, 3}}, split_by({1, 2}, 1), 0, 2),
                                          {{{"x0", {1, 2, 3, 4, 5, 6}}}}, {1, 4}),
                                    exact(moved("Split", {{2, 3}}, split_by({1, 2}, 1), 1, 2),
                                          {{{"x0", {1, 2, 3, 4, 5, 6}}}}, {2, 3, 5, 6})});

/// The same with int32 inputs.
Build moved_indices(const std::string &op, const std::vector<Shape> &shapes, const Attributes &attributes,
                    std::size_t o = 0, std::size_t outputs = 0) {
  return [=](Builder &b) {
    std::vector<TensorId> inputs;
    for (const Shape &shape : shapes)
      inputs.push_back(b.input("x" + std::to_string(inputs.size()), ElementType::kInt32, shape));
    return b.add_all(op, inputs, attributes, "y", outputs)[o];
  };
}

const Holds concat_indices_holds({"ConcatIndices"},
                                 {near_fp64(moved_indices("ConcatIndices", {{2, 3}, {2, 1}}, kAxis1), range(-2, 2, 9)),
                                  exact(moved_indices("ConcatIndices", {{2, 2}, {2, 1}}, kAxis1),
                                        {{}, {{"x0", {1, 2, 3, -4}}, {"x1", {5, 6}}}}, {1, 2, 5, 3, -4, 6})});
const Holds
    split_indices_holds({"SplitIndices"},
                        {near_fp64(moved_indices("SplitIndices", {{4, 3}}, split_by({1, 3}, 0), 0, 2), range(-2, 2, 9)),
                         near_fp64(moved_indices("SplitIndices", {{4, 3}}, split_by({1, 3}, 0), 1, 2), range(-2, 2, 9)),
                         exact(moved_indices("SplitIndices", {{2, 3}}, split_by({1, 2}, 1), 0, 2),
                               {{}, {{"x0", {1, 2, 3, -4, 5, 6}}}}, {1, -4}),
                         exact(moved_indices("SplitIndices", {{2, 3}}, split_by({1, 2}, 1), 1, 2),
                               {{}, {{"x0", {1, 2, 3, -4, 5, 6}}}}, {2, 3, 5, 6})});

Attributes slice_by(Numbers starts, Numbers ends, Numbers axes = {}, Numbers steps = {}) {
  return {
      {"starts", std::move(starts)}, {"ends", std::move(ends)}, {"axes", std::move(axes)}, {"steps", std::move(steps)}};
}

Attributes with_shape(Attributes attributes, Numbers shape) {
  attributes.set("shape", std::move(shape));
  return attributes;
}

const Attributes kInner = slice_by({1, -3}, {3, 100}, {0, 2}, {1, 2});
const Holds slice_holds(
    {"Slice", "SliceGradient"},
    {derivative(moved("Slice", {{4, 2, 5}}, kInner)), near_fp64(moved("Slice", {{4, 2, 5}}, kInner)),
     near_fp64(moved("Slice", {{2, 4}}, slice_by({1}, {4}, {1}, {2}))),
     // A step beyond the axis: the first element alone.
     exact(moved("Slice", {{2, 4}}, slice_by({1}, {4}, {1}, {INT64_MAX})), {{{"x0", {1, 2, 3, 4, 5, 6, 7, 8}}}},
           {2, 6}),
     near_fp64(moved("SliceGradient", {{2, 2, 2}}, with_shape(kInner, {4, 2, 5}))),
     exact(moved("Slice", {{2, 4}}, slice_by({1}, {4}, {1}, {2})), {{{"x0", {1, 2, 3, 4, 5, 6, 7, 8}}}}, {2, 4, 6, 8}),
     exact(moved("SliceGradient", {{1, 2}}, with_shape(slice_by({1, 1}, {2, 3}), {2, 4})), {{{"x0", {7, 8}}}},
           {0, 0, 0, 0, 0, 7, 8, 0}),
     exact(moved("SliceGradient", {{2, 2}}, with_shape(slice_by({0}, {4}, {1}, {3}), {2, 4})), {{{"x0", {1, 2, 3, 4}}}},
           {1, 0, 0, 2, 3, 0, 0, 4})});

const Attributes kFrame{{"pads", Numbers{1, 0, 0, 2}}, {"value", 0.5}};
const Holds pad_holds({"Pad"}, {derivative(moved("Pad", {{2, 3}}, kFrame)), near_fp64(moved("Pad", {{2, 3}}, kFrame)),
                                exact(moved("Pad", {{2, 1}}, kFrame), {{{"x0", {7, 8}}}},
                                      {0.5F, 0.5F, 0.5F, 7, 0.5F, 0.5F, 8, 0.5F, 0.5F}),
                                exact(moved("Pad", {{2}}, {{"pads", Numbers{0, 0}}}), {{{"x0", {7, 8}}}}, {7, 8})});

const Attributes kRepeat{{"shape", Numbers{2, 3, 2}}};
const Holds expand_holds({"Expand"},
                         {derivative(moved("Expand", {{3, 1}}, kRepeat)), near_fp64(moved("Expand", {{3, 1}}, kRepeat)),
                          exact(moved("Expand", {{3, 1}}, kRepeat), {{{"x0", {1, 2, 3}}}},
                                {1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3})});

TEST(Moves, KeepBitsOfAllValues) {
  const std::vector<float> x = {-0.0F, INFINITY, -INFINITY, 1e-45F};
  EXPECT_EQ(run_contract(moved("Transpose", {{2, 2}}, {{"perm", Numbers{1, 0}}}), {{"x0", x}}),
            (std::vector<float>{-0.0F, -INFINITY, INFINITY, 1e-45F}));
}

TEST(Moves, LargeOnesOnSeveralThreads) {
  const auto y =
      run_contract(moved("Transpose", {{300, 400}}, {{"perm", Numbers{1, 0}}}), {{"x0", count_from(0, 120000)}});
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t row = i / 300;
    ASSERT_EQ(y[i], static_cast<float>(i % 300 * 400 + row));
  }
}

std::string moved_error(const char *op, const std::vector<Shape> &shapes, const Attributes &attributes,
                        std::size_t outputs = 0) {
  return build_error([&](Builder &b) {
    b.at("net.graph:7");
    return moved(op, shapes, attributes, 0, outputs)(b);
  });
}

TEST(Moves, RefuseAttributesThatDoNotFit) {
  const std::string where = "net.graph:7: op 'y' ";
  for (const Numbers &perm : {Numbers{0, 1}, Numbers{0, 1, 1}, Numbers{0, 1, 3}, Numbers{0, 1, -1}})
    EXPECT_EQ(moved_error("Transpose", {{2, 3, 4}}, {{"perm", perm}}),
              where + "(Transpose): attribute 'perm' = " + to_string(Attribute(perm)) +
                  " must name each axis of x [2, 3, 4] once, 0 to 2");
  EXPECT_EQ(moved_error("Concat", {{2, 3}, {3, 3}}, kAxis1),
            where + "(Concat): input 0 is [2, 3] and input 1 [3, 3]; they may differ along axis 1 only");
  EXPECT_EQ(moved_error("Concat", {{2, 3}, {2, 3, 1}}, kAxis1),
            where + "(Concat): input 0 is [2, 3] and input 1 [2, 3, 1]; they may differ along axis 1 only");
  EXPECT_EQ(moved_error("Concat", {{2, 3}}, {{"axis", std::int64_t{2}}}),
            where + "(Concat): axis 2 is none of [2, 3], whose axes are -2 to 1");
  EXPECT_EQ(moved_error("Split", {{2, 3}}, split_by({1, 3}, 1), 2),
            where + "(Split): attribute 'split' = [1, 3] must be positive and have the sum 3, x [2, 3] along axis 1");
  EXPECT_EQ(moved_error("Split", {{2, 3}}, split_by({1, 2}, 1), 3),
            where + "(Split): attribute 'split' = [1, 2] has 2 sizes for 3 outputs");
  EXPECT_EQ(moved_error("Slice", {{2, 3}}, slice_by({1}, {1}, {1})),
            where +
                "(Slice): from 1 to 1 in steps of 1 there is nothing of axis 1 of x [2, 3]; the end must lie behind "
                "the start, and the step be at least 1");
  EXPECT_EQ(moved_error("Slice", {{2, 3}}, slice_by({0}, {1, 2})),
            where + "(Slice): attributes 'starts', 'ends', and 'axes' and 'steps' where they are given, must be of one "
                    "length");
  EXPECT_EQ(moved_error("Slice", {{2, 3}}, slice_by({0, 0}, {1, 1}, {1, -1})),
            where + "(Slice): axis -1 is none of x [2, 3], or named twice");
  EXPECT_EQ(moved_error("SliceGradient", {{2, 2}}, with_shape(slice_by({0}, {1}), {2, 2})),
            where + "(SliceGradient): dy is [2, 2]; of x [2, 2] it must be [1, 2]");
  EXPECT_EQ(
      moved_error("Pad", {{2, 3}}, {{"pads", Numbers{1, -1, 0, 0}}}),
      where +
          "(Pad): attribute 'pads' = [1, -1, 0, 0] must be 4 whole numbers from 0 to 2147483647 for x [2, 3]: those "
          "before each axis, then those behind each");
}

} // namespace
} // namespace gradweave::graph
