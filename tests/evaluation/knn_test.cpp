// Nearest neighbours against a search through all points, and votes by hand.
#include "app/evaluation/igo/knn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

using namespace gradweave::evaluation::igo;
using gradweave::compiler::Layer;

namespace {

double distance(const LayerFeatures &a, const LayerFeatures &b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

std::vector<std::size_t> brute_force(const std::vector<LayerFeatures> &points, const LayerFeatures &query,
                                     std::size_t count) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(distance(points[a], query), a) < std::pair(distance(points[b], query), b);
  });
  order.resize(std::min(count, order.size()));
  return order;
}

/// A point on a grid of `side` values each way: small sides make many points equal or equally far.
LayerFeatures draw_point(std::mt19937_64 &random, std::uint64_t side) {
  LayerFeatures point{};
  for (double &feature : point)
    feature = static_cast<double>(random() % side);
  return point;
}

void compare_with_brute_force(std::uint64_t seed, std::size_t points, std::uint64_t side) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", points " + std::to_string(points) + ", side " +
               std::to_string(side));
  std::mt19937_64 random(seed);
  std::vector<LayerFeatures> cloud;
  for (std::size_t i = 0; i < points; ++i)
    cloud.push_back(draw_point(random, side));
  const NearestNeighbours tree(cloud);
  for (int i = 0; i < 50; ++i) {
    const LayerFeatures query = draw_point(random, side);
    for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{7}, points})
      ASSERT_EQ(tree.find(query, count), brute_force(cloud, query, count)) << "query " << i << ", count " << count;
  }
}

LayerFeatures at(double x) { return {x, 0, 0, 0, 0, 0}; }

} // namespace

TEST(Knn, FindsWhatASearchThroughAllPointsFinds) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    compare_with_brute_force(seed, 200, 1000000);
}

TEST(Knn, PutsPointsEquallyFarInTheOrderGiven) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    compare_with_brute_force(seed, 200, 2);
    compare_with_brute_force(seed, 60, 3);
  }
}

TEST(Knn, FindsAllPointsIfThereAreFewer) {
  const NearestNeighbours tree({at(5), at(1)});
  EXPECT_EQ(tree.find(at(0), 10), (std::vector<std::size_t>{1, 0}));
  EXPECT_TRUE(NearestNeighbours({}).find(at(0), 3).empty());
}

TEST(Knn, FeaturesAreTheDimensionsOfTheGradients) {
  Layer layer;
  layer.m = 32;
  layer.k = 8;
  layer.n = 4;
  EXPECT_EQ(layer_features(layer, FeatureScale::kLinear), (LayerFeatures{32, 8, 8, 4, 32, 4}));
  EXPECT_EQ(layer_features(layer, FeatureScale::kLog), (LayerFeatures{5, 3, 3, 2, 5, 2}));
  EXPECT_EQ(to_string(FeatureScale::kLog), "log");
  EXPECT_EQ(to_string(FeatureScale::kLinear), "linear");
  layer.groups = 2;
  EXPECT_EQ(layer_features(layer, FeatureScale::kLinear), (LayerFeatures{32, 16, 16, 4, 32, 8}));
}

TEST(Knn, TheMajorityDecides) {
  const KnnClassifier classifier({at(1), at(2), at(3), at(10)}, {7, 9, 9, 7}, 3);
  EXPECT_EQ(classifier.predict(at(0)), 9U);
  EXPECT_EQ(classifier.predict(at(20)), 9U);
}

TEST(Knn, AmongLabelsEquallyFrequentTheNearestDecides) {
  EXPECT_EQ(KnnClassifier({at(3), at(1)}, {1, 2}, 2).predict(at(0)), 2U);
  EXPECT_EQ(KnnClassifier({at(1), at(3)}, {1, 2}, 2).predict(at(0)), 1U);
}

TEST(Knn, RefusesNoSamplesAndLabelsThatDoNotMatch) {
  EXPECT_THROW(KnnClassifier({}, {}, 1), std::invalid_argument);
  EXPECT_THROW(KnnClassifier({at(1)}, {1, 2}, 1), std::invalid_argument);
  EXPECT_THROW(KnnClassifier({at(1)}, {1}, 0), std::invalid_argument);
}
