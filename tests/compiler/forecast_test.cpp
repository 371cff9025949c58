// Which estimates promise too little: as the ratios known say, and none before there are some.
#include "compiler/search/forecast.hpp"

#include <gtest/gtest.h>

namespace gradweave::compiler {
namespace {

TEST(Forecast, FewProgramsTellNothing) {
  Forecast forecast;
  for (int program = 0; program < 5; ++program) {
    EXPECT_EQ(forecast.most_estimate(1000), kTooSlow) << program;
    forecast.learn(1000, 1100);
  }
  forecast.learn(1000, 1100);
  EXPECT_LT(forecast.most_estimate(1000), 1000U);
}

TEST(Forecast, WithoutALimitEveryProgramIsWorthIt) {
  Forecast forecast;
  for (int program = 0; program < 10; ++program)
    forecast.learn(1000, 1100);
  EXPECT_EQ(forecast.most_estimate(kTooSlow), kTooSlow);
}

TEST(Forecast, ReckonsWithOneOfTheLowerRatios) {
  Forecast forecast;
  for (const std::uint64_t cycles : {1300, 1100, 1200, 1000, 1400, 1250, 1150, 1050, 1350, 1450})
    forecast.learn(1000, cycles);
  // The third lowest of ten is 1.1: an estimate of 1000 forecasts 1100 cycles.
  const std::uint64_t most = forecast.most_estimate(1100);
  EXPECT_GE(most, 1000U);
  EXPECT_LE(most, 1003U);
}

} // namespace
} // namespace gradweave::compiler
