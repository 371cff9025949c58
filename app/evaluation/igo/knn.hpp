// K nearest neighbours on the dimensions of a layer's gradients (igo_micro23, section 5, "Selection mechanism").
#pragma once

#include "graph/network.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace gradweave::evaluation::igo {

/// What a dimension counts as. The paper names the dimensions but no scaling.
enum class FeatureScale {
  kLog,    ///< its logarithm to base 2: a factor counts the same for small and large layers
  kLinear, ///< itself
};
std::string_view to_string(FeatureScale scale); ///< "log", "linear"

/// Rows and columns of dX, dW and dY, in this order; for a grouped layer those of all groups (see Layer).
using LayerFeatures = std::array<double, 6>;
LayerFeatures layer_features(const compiler::Layer &layer, FeatureScale scale);

/// Points that can be asked for those nearest to another, by Euclidean distance (nanoflann's KD-tree).
class NearestNeighbours {
public:
  explicit NearestNeighbours(std::vector<LayerFeatures> points);
  ~NearestNeighbours();
  NearestNeighbours(NearestNeighbours &&other) noexcept;
  NearestNeighbours &operator=(NearestNeighbours &&other) noexcept;

  /// Indices of the `count` points nearest to `query`, nearest first; of points equally far those given first come
  /// first. All points if there are fewer.
  std::vector<std::size_t> find(const LayerFeatures &query, std::size_t count) const;

private:
  class Tree;
  std::unique_ptr<const Tree> tree_;
};

/// Predicts a label from those of the nearest samples.
class KnnClassifier {
public:
  /// `labels[i]` belongs to `points[i]`; both have the same size, at least 1, and k is at least 1: else throws
  /// std::invalid_argument.
  KnnClassifier(std::vector<LayerFeatures> points, std::vector<std::uint32_t> labels, std::size_t k);

  /// The label that most of the k nearest samples have; among labels equally frequent that of the nearest sample.
  std::uint32_t predict(const LayerFeatures &query) const;

private:
  NearestNeighbours neighbours_;
  std::vector<std::uint32_t> labels_;
  std::size_t k_;
};

} // namespace gradweave::evaluation::igo
