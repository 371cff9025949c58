#include "app/evaluation/igo/selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace gradweave::evaluation::igo {
namespace {

std::uint32_t best_choice(const SelectionSample &sample) {
  return static_cast<std::uint32_t>(std::min_element(sample.cycles.begin(), sample.cycles.end()) -
                                    sample.cycles.begin());
}

/// The first `count` of `order` become a random choice. The standard's shuffle differs from library to library.
void draw(std::vector<std::size_t> &order, std::size_t count, std::mt19937_64 &random) {
  for (std::size_t i = 0; i < count; ++i)
    std::swap(order[i], order[i + random() % (order.size() - i)]);
}

} // namespace

SelectionResult evaluate_selection(const std::vector<SelectionSample> &samples, const SelectionOptions &options) {
  std::vector<LayerFeatures> features;
  std::vector<std::uint32_t> labels;
  SelectionResult result;
  result.accuracy = std::numeric_limits<double>::quiet_NaN();
  for (const SelectionSample &sample : samples) {
    features.push_back(layer_features(sample.layer, options.scale));
    labels.push_back(best_choice(sample));
    result.expected_cycles.push_back(sample.cycles.at(labels.back()));
  }
  if (samples.size() < 2) return result;

  const auto training = std::clamp<std::size_t>(
      static_cast<std::size_t>(std::lround(options.training_share * static_cast<double>(samples.size()))), 1,
      samples.size() - 1);
  std::mt19937_64 random(options.seed);
  std::vector<std::size_t> order(samples.size());
  std::vector<double> cycles(samples.size());
  std::vector<std::uint64_t> predicted(samples.size());
  std::uint64_t correct = 0;
  for (std::uint32_t repetition = 0; repetition < options.repetitions; ++repetition) {
    std::iota(order.begin(), order.end(), 0);
    draw(order, training, random);
    std::vector<LayerFeatures> points;
    std::vector<std::uint32_t> known;
    for (std::size_t i = 0; i < training; ++i) {
      points.push_back(features[order[i]]);
      known.push_back(labels[order[i]]);
    }
    const KnnClassifier classifier(std::move(points), std::move(known), options.k);
    for (std::size_t i = training; i < order.size(); ++i) {
      const std::size_t sample = order[i];
      const double time = samples[sample].cycles.at(classifier.predict(features[sample]));
      correct += time == samples[sample].cycles.at(labels[sample]) ? 1 : 0;
      cycles[sample] += time;
      ++predicted[sample];
    }
  }
  const double predictions = static_cast<double>(options.repetitions) * static_cast<double>(samples.size() - training);
  result.accuracy = static_cast<double>(correct) / predictions;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (predicted[i] != 0) result.expected_cycles[i] = cycles[i] / static_cast<double>(predicted[i]);
  return result;
}

} // namespace gradweave::evaluation::igo
