#include "train/rate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace gradweave::runtime::train {
namespace {

TEST(Rate, FallsLinearlyToZero) {
  const RateSchedule schedule{RateForm::kLinear, 0.5, 0, 4};
  EXPECT_EQ(rate_at(schedule, 0), 0.5);
  EXPECT_EQ(rate_at(schedule, 1), 0.375);
  EXPECT_EQ(rate_at(schedule, 3), 0.125);
  EXPECT_EQ(rate_at(schedule, 4), 0);
  EXPECT_EQ(rate_at(schedule, 9), 0) << "behind the end";
}

TEST(Rate, RisesThroughTheWarmUp) {
  const RateSchedule schedule{RateForm::kConstant, 1, 3, 10};
  EXPECT_EQ(rate_at(schedule, 0), 0.25);
  EXPECT_EQ(rate_at(schedule, 2), 0.75);
  EXPECT_EQ(rate_at(schedule, 3), 1);
  EXPECT_EQ(rate_at(schedule, 9), 1);
}

TEST(Rate, FollowsHalfACosine) {
  const RateSchedule schedule{RateForm::kCosine, 2, 0, 100};
  for (std::uint64_t step = 0; step <= 100; ++step)
    EXPECT_NEAR(rate_at(schedule, step), 1 + std::cos(M_PI * double(step) / 100), 1e-14) << step;
}

TEST(Rate, NamesAreThoseThatItListsAndNoOthers) {
  for (const RateForm form : {RateForm::kConstant, RateForm::kLinear, RateForm::kCosine})
    EXPECT_EQ(parse_rate_form(to_string(form)), form);
  EXPECT_THROW(parse_rate_form("step"), std::invalid_argument);
}

TEST(StepConstants, CorrectTheMomentsOfAdamW) {
  const graph::TrainingOptions options;
  const auto correction = [](double beta, std::uint64_t step) {
    return static_cast<float>(1 / (1 - std::pow(static_cast<long double>(beta), static_cast<long double>(step))));
  };
  std::vector<std::uint64_t> steps(3000);
  std::iota(steps.begin(), steps.end(), 0);
  for (std::uint64_t power = 1; power < 1ULL << 63U; power *= 2)
    steps.insert(steps.end(), {power - 1, power, power + 1});
  for (const std::uint64_t step : steps) {
    const std::vector<float> constants = step_constants(options, {RateForm::kConstant, 0.01, 0, 40}, step);
    ASSERT_EQ(constants.size(), 3U);
    EXPECT_EQ(constants[0], 0.01F);
    EXPECT_EQ(constants[1], correction(0.9, step + 1)) << step;
    EXPECT_EQ(constants[2], correction(0.999, step + 1)) << step;
  }
  graph::TrainingOptions sgd;
  sgd.optimizer = graph::OptimizerKind::kSgd;
  EXPECT_EQ(step_constants(sgd, {RateForm::kConstant, 0.25, 0, 1}, 0), std::vector<float>{0.25F});
}

} // namespace
} // namespace gradweave::runtime::train
