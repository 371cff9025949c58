// A mini-batch of DLRM, against numbers computed by hand.
#include "sw_models/partitioned/recommendation.hpp"
#include "tests/sw_models/partitioned/random_workload.hpp"

#include <gtest/gtest.h>

namespace gradweave::partitioned {
namespace {

/// 2 requests of 3 vectors of 5 words: 120 bytes of rows, 40 of sums.
Recommendation small() {
  Recommendation r;
  r.batch = 2;
  r.vectors = 3;
  r.link_rate = 100;
  r.storage_rate = 200;
  r.fixed_seconds = 1;
  return r;
}
constexpr std::uint32_t kDimension = 5;

void expect_times(const RecommendationTimes &t, double rows, double link, double reduce) {
  EXPECT_NEAR(t.read, rows, kClose);
  EXPECT_NEAR(t.write, rows, kClose);
  EXPECT_NEAR(t.up, link, kClose);
  EXPECT_NEAR(t.down, link, kClose);
  EXPECT_NEAR(t.reduce, reduce, kClose);
  EXPECT_NEAR(t.fixed, 1, kClose);
  EXPECT_NEAR(t.total(), 2 * rows + 2 * link + reduce + 1, kClose);
}

} // namespace

TEST(RecommendationModel, ByHand) {
  expect_times(recommendation_times(small(), kDimension, false), 0.6, 1.2, 0);
  expect_times(recommendation_times(small(), kDimension, true), 0.6, 0.4, 0);
  EXPECT_NEAR(recommendation_saving(small(), kDimension), 100 * (1 - 3 / 4.6), kClose);
}

TEST(RecommendationModel, SumsAndBlocksByHand) {
  Recommendation r = small();
  r.host_reduce_rate = 60;
  r.device_reduce_rate = 30;
  r.block_bytes = 32;
  expect_times(recommendation_times(r, kDimension, false), 192 / 200.0, 1.2, 2);
  expect_times(recommendation_times(r, kDimension, true), 192 / 200.0, 0.4, 4);
}

/// Docs/partitioned-training.md: the curve that the paper's numbers lie on.
TEST(RecommendationModel, HasThePapersNumbers) {
  const Recommendation defaults;
  EXPECT_NEAR(recommendation_saving(defaults, 128), 40.6, 0.05);
  EXPECT_NEAR(recommendation_saving(defaults, 256), 43.3, 0.05);
  EXPECT_NEAR(recommendation_saving(defaults, 512), 44.7, 0.05);
}

TEST(RecommendationModel, SavesMoreTheWiderRowsAre) {
  const Recommendation defaults;
  for (std::uint32_t dimension = 1; dimension < 2000; ++dimension)
    EXPECT_GT(recommendation_saving(defaults, dimension + 1), recommendation_saving(defaults, dimension));
}

TEST(RecommendationModel, BadInputIsNamed) {
  const auto with = [](double Recommendation::*field, double value) {
    Recommendation r;
    r.*field = value;
    return problem_of([&] { recommendation_times(r, kDimension, true); });
  };
  EXPECT_EQ(with(&Recommendation::link_rate, 0), "a link bandwidth of 0; see recommendation.hpp for what it may be");
  EXPECT_EQ(with(&Recommendation::storage_rate, 0),
            "a storage bandwidth of 0; see recommendation.hpp for what it may be");
  EXPECT_EQ(with(&Recommendation::fixed_seconds, -1), "a fixed time of -1; see recommendation.hpp for what it may be");
  EXPECT_EQ(problem_of([] { recommendation_times({}, 0, true); }),
            "64 requests of 26 vectors of dimension 0; each must be above 0");
}

} // namespace gradweave::partitioned
