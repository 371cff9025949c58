#include "app/evaluation/igo/knn.hpp"

#include <fmt/format.h>
#include <nanoflann.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace gradweave::evaluation::igo {
namespace {

/// The points as nanoflann reads them.
struct Cloud {
  std::vector<LayerFeatures> points;

  // NOLINTBEGIN(readability-identifier-naming): nanoflann calls them by these names
  std::size_t kdtree_get_point_count() const { return points.size(); }
  double kdtree_get_pt(std::size_t point, std::size_t dimension) const { return points[point].at(dimension); }
  template <typename Box> bool kdtree_get_bbox(Box & /*box*/) const { return false; }
  // NOLINTEND(readability-identifier-naming)
};

/// Distances that the tree's bounds may be off by, relatively: rounding of a few additions.
constexpr double kRounding = 1e-12;

std::vector<LayerFeatures> checked(std::vector<LayerFeatures> points, std::size_t labels, std::size_t k) {
  if (points.size() == labels && labels != 0 && k != 0) return points;
  throw std::invalid_argument(fmt::format("{} points, {} labels and k = {}: there must be as many labels as points, "
                                          "and at least 1 of each",
                                          points.size(), labels, k));
}

} // namespace

class NearestNeighbours::Tree {
public:
  explicit Tree(std::vector<LayerFeatures> points) : cloud_{std::move(points)}, index_(kDimensions, cloud_) {}

  std::vector<std::size_t> find(const LayerFeatures &query, std::size_t count) const {
    count = std::min(count, cloud_.points.size());
    if (count == 0) return {};
    std::vector<std::size_t> nearest(count);
    std::vector<double> distances(count);
    index_.knnSearch(query.data(), count, nearest.data(), distances.data());
    // Which of several points at the largest distance the tree returns depends on how it was built. So all points up to
    // there are fetched and put in order.
    const double reach = distances.back() * (1 + kRounding) + std::numeric_limits<double>::min();
    std::vector<std::pair<std::size_t, double>> found;
    index_.radiusSearch(query.data(), reach, found, nanoflann::SearchParams(0, 0, false));
    std::sort(found.begin(), found.end(),
              [](const auto &a, const auto &b) { return std::tie(a.second, a.first) < std::tie(b.second, b.first); });
    for (std::size_t i = 0; i < count; ++i)
      nearest[i] = found[i].first;
    return nearest;
  }

private:
  static constexpr int kDimensions = std::tuple_size_v<LayerFeatures>;
  using Index =
      nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Cloud>, Cloud, kDimensions, std::size_t>;
  Cloud cloud_;
  Index index_;
};

std::string_view to_string(FeatureScale scale) { return scale == FeatureScale::kLog ? "log" : "linear"; }

LayerFeatures layer_features(const compiler::Layer &layer, FeatureScale scale) {
  const double m = layer.m;
  const double k = static_cast<double>(layer.k) * layer.groups;
  const double n = layer.n;
  LayerFeatures features{m, k, k, n, m, n * layer.groups};
  if (scale == FeatureScale::kLog)
    for (double &feature : features)
      feature = std::log2(feature);
  return features;
}

NearestNeighbours::NearestNeighbours(std::vector<LayerFeatures> points)
    : tree_(std::make_unique<const Tree>(std::move(points))) {}
NearestNeighbours::~NearestNeighbours() = default;
NearestNeighbours::NearestNeighbours(NearestNeighbours &&other) noexcept = default;
NearestNeighbours &NearestNeighbours::operator=(NearestNeighbours &&other) noexcept = default;

std::vector<std::size_t> NearestNeighbours::find(const LayerFeatures &query, std::size_t count) const {
  return tree_->find(query, count);
}

KnnClassifier::KnnClassifier(std::vector<LayerFeatures> points, std::vector<std::uint32_t> labels, std::size_t k)
    : neighbours_(checked(std::move(points), labels.size(), k)), labels_(std::move(labels)), k_(k) {}

std::uint32_t KnnClassifier::predict(const LayerFeatures &query) const {
  const std::vector<std::size_t> nearest = neighbours_.find(query, k_);
  std::map<std::uint32_t, std::size_t> votes;
  std::size_t most = 0;
  for (const std::size_t sample : nearest)
    most = std::max(most, ++votes[labels_[sample]]);
  for (const std::size_t sample : nearest)
    if (votes[labels_[sample]] == most) return labels_[sample];
  throw std::logic_error("no neighbour");
}

} // namespace gradweave::evaluation::igo
