#include "operator_check.hpp"

#include "sw_models/functions/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

const std::vector<std::optional<Shape>> kLogits{Shape{4, 5}, Shape{4}}, kManyLogits{Shape{9, 33}, Shape{9}},
    kManyLogitsGradient{Shape{}, Shape{9, 33}, Shape{9}}, kTwoRows{Shape{2, 2}, Shape{2}},
    kTwoRowsGradient{Shape{}, Shape{2, 2}, Shape{2}};
const Attributes kIgnoreOne{{"ignore_index", std::int64_t{1}}};
const float kNinth = 1.0F / 9;

/// Powers of a row and their sum.
float powers(const float *x, std::size_t classes, std::vector<float> &out, float &most) {
  most = -HUGE_VALF;
  for (std::size_t i = 0; i < classes; ++i)
    most = std::max(most, x[i]);
  float sum = 0;
  out.resize(classes);
  for (std::size_t i = 0; i < classes; ++i)
    sum += out[i] = functions::exp(x[i] - most);
  return sum;
}

std::vector<float> cross_entropy_of_nine(const Given &given) {
  float total = 0, most = 0;
  std::vector<float> row;
  for (std::size_t r = 0; r < 9; ++r) {
    const float *x = given.real.at("logits").data() + r * 33;
    const float sum = powers(x, 33, row, most);
    total += (most - x[given.index.at("labels")[r]]) + functions::log(sum);
  }
  return {total * kNinth};
}

std::vector<float> cross_entropy_gradient_of_nine(const Given &given) {
  std::vector<float> dx, row;
  float most = 0;
  const float factor = given.real.at("dloss")[0] * kNinth;
  for (std::size_t r = 0; r < 9; ++r) {
    const float share = functions::reciprocal(powers(given.real.at("logits").data() + r * 33, 33, row, most));
    for (std::size_t i = 0; i < 33; ++i) {
      float p = row[i] * share;
      if (i == static_cast<std::size_t>(given.index.at("labels")[r])) p -= 1;
      dx.push_back(p * factor);
    }
  }
  return dx;
}

const Holds cross_entropy_holds(
    {"SoftmaxCrossEntropy", "SoftmaxCrossEntropyGradient"},
    {derivative(op_of("SoftmaxCrossEntropy", kLogits), range(-2, 2, 5)),
     derivative(op_of("SoftmaxCrossEntropy", kLogits), range(-8, 8, 5, 2)),
     derivative(op_of("SoftmaxCrossEntropy", {Shape{2, 3, 3}, Shape{2, 3}}, kIgnoreOne), range(-2, 2, 3)),
     derivative(op_of("SoftmaxCrossEntropy", {Shape{3}, Shape{}}), range(-2, 2, 3)),
     near_fp64(op_of("SoftmaxCrossEntropy", kManyLogits), range(-9, 9, 33)),
     near_fp64(op_of("SoftmaxCrossEntropyGradient", kManyLogitsGradient), range(-9, 9, 33)),
     replayed(op_of("SoftmaxCrossEntropy", kManyLogits), range(-9, 9, 33), cross_entropy_of_nine),
     replayed(op_of("SoftmaxCrossEntropyGradient", kManyLogitsGradient), range(-9, 9, 33),
              cross_entropy_gradient_of_nine),
     exact(op_of("SoftmaxCrossEntropy", kTwoRows), {{{"logits", {1e4F, -1e4F, -1e4F, 1e4F}}}, {{"labels", {0, 0}}}},
           {1e4F}), // 0 and 2e4, halved
     exact(op_of("SoftmaxCrossEntropyGradient", kTwoRowsGradient),
           {{{"dloss", {1}}, {"logits", {1e4F, -1e4F, -1e4F, 1e4F}}}, {{"labels", {0, 0}}}}, {0, 0, -0.5F, 0.5F}),
     // One of the two rows of a batch: the mean is that of both. Of four, one is ignored.
     exact(op_of("SoftmaxCrossEntropyGradient", {Shape{}, Shape{1, 2}, Shape{1}, Shape{2}}),
           {{{"dloss", {1}}, {"logits", {-1e4F, 1e4F}}}, {{"labels", {0}}, {"whole", {1, 0}}}}, {-0.5F, 0.5F}),
     exact(op_of("SoftmaxCrossEntropyGradient", {Shape{}, Shape{1, 2}, Shape{1}, Shape{5}}, kIgnoreOne),
           {{{"dloss", {1}}, {"logits", {-1e4F, 1e4F}}}, {{"labels", {0}}, {"whole", {0, 0, 1, 0, 0}}}},
           {-0.25F, 0.25F}),
     // A row that is ignored counts nowhere, and nothing is divided by 0 if all are.
     exact(op_of("SoftmaxCrossEntropy", kTwoRows, kIgnoreOne), {{{"logits", {7, 7, NAN, 3}}}, {{"labels", {0, 1}}}},
           {functions::log(2.0F)}),
     exact(op_of("SoftmaxCrossEntropyGradient", kTwoRowsGradient, kIgnoreOne),
           {{{"dloss", {4}}, {"logits", {7, 7, NAN, 3}}}, {{"labels", {0, 1}}}}, {-2, 2, 0, 0}),
     exact(op_of("SoftmaxCrossEntropy", kTwoRows, kIgnoreOne), {{{"logits", {7, 7, 8, 3}}}, {{"labels", {1, 1}}}},
           {0})});

TEST(SoftmaxCrossEntropy, RefusesLabelsThatAreNoClass) {
  for (const std::int32_t label : {2, -1})
    try {
      run_contract(op_of("SoftmaxCrossEntropy", kTwoRows), {{"logits", {1, 2, 3, 4}}}, {{"labels", {0, label}}});
      FAIL() << "passed";
    } catch (const GraphError &error) {
      EXPECT_EQ(std::string(error.what()), "op 'y' (SoftmaxCrossEntropy): label " + std::to_string(label) +
                                               " of row 1 is none of the 2 classes, and not ignore_index = -100");
    }
}

TEST(SoftmaxCrossEntropy, RefusesOtherNumbersOfLabels) {
  EXPECT_EQ(build_error(op_of("SoftmaxCrossEntropy", {Shape{2, 3}, Shape{3}})),
            "op 'y' (SoftmaxCrossEntropy): logits are [2, 3] and labels [3]; there must be a label for each row, [2]");
}

TEST(SoftmaxCrossEntropy, RefusesAnIgnoredLabelThatALabelMayMeetInAllBitsButTheSign) {
  EXPECT_EQ(build_error(op_of("SoftmaxCrossEntropy", kTwoRows, {{"ignore_index", std::int64_t{INT32_MIN}}})),
            "op 'y' (SoftmaxCrossEntropy): attribute 'ignore_index' = -2147483648 must be above -2^30, and of 32 bits");
}

/// Rows of 7, then the rows.
template <typename Term> float total_of_rows(std::size_t count, Term term) {
  float total = 0;
  for (std::size_t row = 0; row < count; row += 7) {
    float sum = 0;
    for (std::size_t i = row; i < row + 7; ++i)
      sum = term(sum, i);
    total += sum;
  }
  return total;
}

const std::vector<std::optional<Shape>> kPair{Shape{5, 7}, Shape{5, 7}},
    kPairGradient{Shape{}, Shape{5, 7}, Shape{5, 7}};
const float kShare = 1.0F / 35;

std::vector<float> squared_error_of_rows(const Given &given) {
  return {kShare * total_of_rows(35, [&given](float sum, std::size_t i) {
            const float off = given.real.at("x")[i] - given.real.at("target")[i];
            return std::fmaf(off, off, sum);
          })};
}

const Holds squared_error_holds(
    {"MeanSquaredError", "MeanSquaredErrorGradient"},
    {derivative(op_of("MeanSquaredError", {Shape{3, 4}, Shape{3, 4}})),
     derivative(op_of("MeanSquaredError", {Shape{}, Shape{}})), near_fp64(op_of("MeanSquaredError", kPair)),
     near_fp64(op_of("MeanSquaredErrorGradient", kPairGradient)),
     replayed(op_of("MeanSquaredError", kPair), range(-2, 2, 1, 2), squared_error_of_rows),
     replayed(op_of("MeanSquaredError", kPair), range(-2, 2, 1, 3), squared_error_of_rows),
     exact(op_of("MeanSquaredError", {Shape{4}, Shape{4}}), {{{"x", {4096, 1, 1, 0}}}}, {0x1p22F}),
     exact(op_of("MeanSquaredErrorGradient", {Shape{}, Shape{2}, Shape{2}}),
           {{{"dloss", {3}}, {"x", {1, 5}}, {"target", {2, 3}}}}, {-3, 6}),
     exact(op_of("MeanSquaredErrorGradient", {Shape{}, Shape{2}, Shape{2}}, {{"elements", std::int64_t{4}}}),
           {{{"dloss", {6}}, {"x", {1, 5}}, {"target", {2, 3}}}}, {-3, 6})});

TensorId build_binary(Builder &b) {
  const TensorId x = b.parameter("x", {5, 7}, "zeros");
  return b.add("BinaryCrossEntropyWithLogits", {x, b.input("target", ElementType::kFp32, {5, 7})}, {}, "y");
}

float entropy_term(float x, float target) {
  const float e = functions::exp(-std::fabs(x)), sum = 1 + e;
  const float plus = std::max(x, 0.0F) + std::fmaf(e - (sum - 1), functions::reciprocal(sum), functions::log(sum));
  return std::fmaf(-x, target, plus);
}

const Holds binary_holds({"BinaryCrossEntropyWithLogits", "BinaryCrossEntropyWithLogitsGradient"},
                         {derivative(build_binary), derivative(build_binary, range(-9, 9)),
                          near_fp64(op_of("BinaryCrossEntropyWithLogits", kPair)),
                          near_fp64(op_of("BinaryCrossEntropyWithLogitsGradient", kPairGradient)),
                          replayed(op_of("BinaryCrossEntropyWithLogits", kPair), {},
                                   [](const Given &given) -> std::vector<float> {
                                     return {kShare * total_of_rows(35, [&](float sum, std::size_t i) {
                                               return sum +
                                                      entropy_term(given.real.at("x")[i], given.real.at("target")[i]);
                                             })};
                                   }),
                          exact(op_of("BinaryCrossEntropyWithLogits", {Shape{2}, Shape{2}}),
                                {{{"x", {1e4F, -1e4F}}, {"target", {1, 1}}}}, {5e3F}),
                          exact(op_of("BinaryCrossEntropyWithLogitsGradient", {Shape{}, Shape{2}, Shape{2}}),
                                {{{"dloss", {1}}, {"x", {1e4F, -1e4F}}, {"target", {0, 1}}}}, {0.5F, -0.5F})});

TEST(Losses, RefuseTargetsOfAnotherShape) {
  EXPECT_EQ(build_error(op_of("MeanSquaredError", {Shape{2}, Shape{3}})),
            "op 'y' (MeanSquaredError): x is [2] and target [3]; they must be equal");
  EXPECT_EQ(build_error(op_of("BinaryCrossEntropyWithLogitsGradient", {Shape{2}, Shape{3}, Shape{3}})),
            "op 'y' (BinaryCrossEntropyWithLogitsGradient): dloss is [2]; it must be one number");
}

TEST(Losses, PassNoGradientToBinaryTargets) {
  try {
    gradient_error(op_of("BinaryCrossEntropyWithLogits", kPair));
    FAIL() << "passed";
  } catch (const GraphError &error) {
    EXPECT_EQ(std::string(error.what()), "op 'y' (BinaryCrossEntropyWithLogits): no gradient passes to the target "
                                         "'target'; freeze it");
  }
}

} // namespace
} // namespace gradweave::graph
