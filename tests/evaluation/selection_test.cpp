// The experiment of section 5 on samples whose outcome is known.
#include "app/evaluation/igo/selection.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace gradweave::evaluation::igo;

namespace {

SelectionSample sample(std::uint32_t m, double a, double b, double c) {
  SelectionSample s;
  s.layer.m = m;
  s.layer.k = s.layer.n = 64;
  s.cycles = {a, b, c};
  return s;
}

SelectionOptions quick() {
  SelectionOptions options;
  options.repetitions = 200;
  return options;
}

} // namespace

TEST(Selection, LearnsWhatIsEasy) {
  std::vector<SelectionSample> samples;
  for (std::uint32_t i = 1; i <= 20; ++i) {
    samples.push_back(sample(i, 10, 20, 30));
    samples.push_back(sample(100000 + i, 30, 20, 10));
  }
  const SelectionResult result = evaluate_selection(samples, quick());
  EXPECT_EQ(result.accuracy, 1.0);
  for (const double cycles : result.expected_cycles)
    EXPECT_EQ(cycles, 10);
}

TEST(Selection, CannotLearnWhatNeighboursDoNotShow) {
  std::vector<SelectionSample> samples;
  for (std::uint32_t i = 1; i <= 40; ++i) // neighbours always differ
    samples.push_back(i % 2 == 0 ? sample(1000 + i, 10, 20, 30) : sample(1000 + i, 20, 10, 30));
  SelectionOptions options = quick();
  options.training_share = 0.975; // all but one
  const SelectionResult result = evaluate_selection(samples, options);
  EXPECT_LT(result.accuracy, 0.1);
}

TEST(Selection, ExpectedCyclesAreTheMeanOverPredictions) {
  // One sample trains, the other is predicted with its label.
  const SelectionResult result = evaluate_selection({sample(1, 10, 20, 30), sample(2, 25, 15, 50)}, quick());
  EXPECT_EQ(result.accuracy, 0);
  EXPECT_EQ(result.expected_cycles, (std::vector<double>{20, 25}));
}

TEST(Selection, AnEqualChoiceIsCorrect) {
  const SelectionResult result = evaluate_selection({sample(1, 10, 10, 30), sample(2, 25, 15, 50)}, quick());
  // The first one predicts choice 0 for the second: 25 instead of 15; the second choice 1 for the first: as good.
  EXPECT_GT(result.accuracy, 0.3);
  EXPECT_LT(result.accuracy, 0.7);
}

TEST(Selection, RepeatsWithItsSeed) {
  std::vector<SelectionSample> samples;
  for (std::uint32_t i = 1; i <= 30; ++i)
    samples.push_back(sample(i * i, 10 + i % 3, 11, 12 - i % 5));
  SelectionOptions options = quick();
  const SelectionResult first = evaluate_selection(samples, options);
  EXPECT_EQ(evaluate_selection(samples, options).accuracy, first.accuracy);
  EXPECT_EQ(evaluate_selection(samples, options).expected_cycles, first.expected_cycles);
  options.seed = 2;
  EXPECT_NE(evaluate_selection(samples, options).expected_cycles, first.expected_cycles);
}

TEST(Selection, NothingIsPredictedFromNothing) {
  EXPECT_TRUE(std::isnan(evaluate_selection({}, quick()).accuracy));
  const SelectionResult one = evaluate_selection({sample(1, 3, 2, 1)}, quick());
  EXPECT_TRUE(std::isnan(one.accuracy));
  EXPECT_EQ(one.expected_cycles, std::vector<double>{1});
}
