// How well nearest neighbours predict the best partitioning of a layer (igo_micro23, section 5).
#pragma once

#include "app/evaluation/igo/knn.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gradweave::evaluation::igo {

/// A layer and its cycles under each of the partitionings to choose from.
struct SelectionSample {
  compiler::Layer layer;
  std::array<double, 3> cycles{};
};

struct SelectionOptions {
  std::size_t k = 1;
  FeatureScale scale = FeatureScale::kLog;
  double training_share = 0.8; ///< of the samples, drawn anew in each repetition; the others are predicted
  std::uint32_t repetitions = 1000;
  std::uint64_t seed = 1;
};

struct SelectionResult {
  double accuracy = 0; ///< predictions that are as fast as the best choice, of all predictions in all repetitions
  /// For each sample its mean cycles over the repetitions in which it was predicted; the best choice's if it never was.
  std::vector<double> expected_cycles;
};

/// Deterministic: the same samples and options give the same result. With fewer than two samples nothing is predicted:
/// the accuracy is NaN.
SelectionResult evaluate_selection(const std::vector<SelectionSample> &samples, const SelectionOptions &options);

} // namespace gradweave::evaluation::igo
