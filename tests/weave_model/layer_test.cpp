#include "tests/weave_model/refusal.hpp"
#include "weave_model/layer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace gradweave::weave_model {
namespace {

TEST(WeaveLayer, SumsOfAModel) {
  const Model model{"m", {{2, 6}, {3, 0}, {1, 4}}};
  EXPECT_EQ(compute_seconds(model), 6);
  EXPECT_EQ(fetch_seconds(model, {100, 2}), 5);
}

TEST(WeaveLayer, PartsOfALayerThatDoesNotFitAreHalfOfTheBufferAtMost) {
  const Model parts = fitted({"m", {{8, 21}, {1, 10}}}, {10, 1});
  ASSERT_EQ(parts.layers.size(), 6U);
  const std::uint64_t bytes[] = {5, 4, 4, 4, 4, 10};
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(parts.layers[i].bytes, bytes[i]) << i;
  EXPECT_EQ(parts.layers[0].seconds, 8.0 / 5);
  EXPECT_EQ(parts.layers[5].seconds, 1);
}

TEST(WeaveLayer, TilesAreCutByBytesOrByTime) {
  const Model tiles = tiled({"m", {{8, 10}, {9, 2}, {1, 0}}}, {4, 3});
  ASSERT_EQ(tiles.layers.size(), 7U); // 10 bytes: 3 by 4; 9 s: 3 by 3
  EXPECT_EQ(tiles.layers[0].bytes, 4U);
  EXPECT_EQ(tiles.layers[1].bytes, 3U);
  EXPECT_EQ(tiles.layers[2].bytes, 3U);
  EXPECT_EQ(tiles.layers[2].seconds, 8.0 / 3);
  EXPECT_EQ(tiles.layers[3].seconds, 3);
  EXPECT_EQ(tiles.layers[5].bytes, 0U);
  EXPECT_EQ(tiles.layers[6].seconds, 1);
}

TEST(WeaveLayer, RefusesWhatNoNpuRuns) {
  const Model good{"m", {{1, 1}}};
  EXPECT_NE(refusal([&] { fitted(good, {1, 1}); }).find("buffer of 1 bytes"), std::string::npos);
  EXPECT_NE(refusal([&] { fitted(good, {0, 1}); }).find("buffer of 0 bytes"), std::string::npos);
  for (const double bandwidth : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_NE(refusal([&] { fitted(good, {4, bandwidth}); }).find("bandwidth"), std::string::npos) << bandwidth;
  EXPECT_NE(refusal([&] { fitted({"empty", {}}, {4, 1}); }).find("'empty' has no layers"), std::string::npos);
  for (const double seconds : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_NE(refusal([&] {
                fitted({"m", {{1, 1}, {seconds, 1}}}, {4, 1});
              }).find("layer 1 of model 'm'"),
              std::string::npos)
        << seconds;
  EXPECT_NE(refusal([&] { tiled(good, {0, 1}); }).find("tiles of 0 bytes"), std::string::npos);
  EXPECT_NE(refusal([&] { tiled(good, {1, 0}); }).find("0 s"), std::string::npos);
}

} // namespace
} // namespace gradweave::weave_model
