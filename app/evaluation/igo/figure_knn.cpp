// Section 5: how well nearest neighbours choose the partitioning.
#include "app/evaluation/igo/figure_support.hpp"
#include "app/evaluation/igo/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace gradweave::evaluation::igo {
namespace {

using compiler::Partition;

constexpr std::size_t kCores = 1; ///< index into Study::large_npus: two cores

/// One policy: every layer with dX of every network, with what the partitionings take.
struct Samples {
  std::vector<SelectionSample> samples;
  std::vector<std::size_t> network; ///< of each sample
  std::vector<double> baseline;     ///< of each network: forward and backward
  std::vector<double> other;        ///< of each network: what no partitioning changes
};

Samples collect(const Context &context, const Setting &setting, bool searched) {
  const Costs costs = costs_of(context, setting, searched);
  Samples all;
  for (const Workload &workload : context.workloads.at(setting)) {
    double other = 0;
    for (const compiler::Layer &layer : workload.network.layers) {
      other += cycles_of(costs.forward(layer));
      if (!layer.dx) {
        other += cycles_of(costs.backward(layer, Technique::kBaseline));
        continue;
      }
      const auto cycles = [&](Partition partition) {
        return cycles_of(costs.partitioned(layer, partition, setting.npu.cores));
      };
      const std::array<double, 3> all_three{cycles(Partition::kWeightSharing), cycles(Partition::kDySharing),
                                            cycles(Partition::kIfmapSharing)};
      const double sum = all_three[0] + all_three[1] + all_three[2];
      if (std::isnan(sum)) {
        other = sum; // the network has no averages
        continue;
      }
      all.samples.push_back({layer, all_three});
      all.network.push_back(all.baseline.size());
    }
    all.baseline.push_back(costs.cycles(workload, Technique::kBaseline));
    all.other.push_back(other);
  }
  return all;
}

/// Mean of the networks' reductions, in percent, if sample i takes cycles[i].
double gain(const Samples &all, const std::vector<double> &cycles) {
  std::vector<double> times = all.other;
  for (std::size_t i = 0; i < cycles.size(); ++i)
    times[all.network[i]] += cycles[i];
  for (std::size_t n = 0; n < times.size(); ++n)
    times[n] /= all.baseline[n];
  return gain_percent(times);
}

double ideal_gain(const Samples &all) {
  std::vector<double> cycles;
  for (const SelectionSample &sample : all.samples)
    cycles.push_back(*std::min_element(sample.cycles.begin(), sample.cycles.end()));
  return gain(all, cycles);
}

/// One sample of each shape: no test layer is a copy of a training layer.
std::vector<SelectionSample> distinct(const std::vector<SelectionSample> &samples) {
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> shapes;
  std::vector<SelectionSample> result;
  for (const SelectionSample &s : samples)
    if (shapes.emplace(s.layer.m, s.layer.k, s.layer.n, s.layer.groups).second) result.push_back(s);
  return result;
}

/// Accuracies and gains for every number of neighbours and scaling.
Table sweep(const Samples &all, const char *policy, std::uint64_t seed) {
  Table table{fmt::format("Neighbours and scaling, {}", policy),
              {"k", "features", "accuracy, all layers", "accuracy, distinct shapes", "less time, predicted",
               "less time, ideal"},
              {}};
  const std::vector<SelectionSample> shapes = distinct(all.samples);
  for (const FeatureScale scale : {FeatureScale::kLog, FeatureScale::kLinear})
    for (const std::size_t k : {1U, 3U, 5U, 7U}) {
      SelectionOptions options;
      options.k = k;
      options.scale = scale;
      options.seed = seed;
      const SelectionResult result = evaluate_selection(all.samples, options);
      table.rows.push_back(
          {std::to_string(k), std::string(to_string(scale)), fmt::format("{:.1f} %", 100 * result.accuracy),
           fmt::format("{:.1f} %", 100 * evaluate_selection(shapes, options).accuracy),
           fmt::format("{:.2f} %", gain(all, result.expected_cycles)), fmt::format("{:.2f} %", ideal_gain(all))});
    }
  return table;
}

} // namespace

Figure knn(const Context &context) {
  Figure figure;
  figure.id = "knn";
  figure.title = "Section 5: choice of the partitioning by nearest neighbours";
  const SelectionOptions options;
  figure.method =
      fmt::format("Features: the dimensions of dX, dW and dY; label: the fastest of the three partitionings, all "
                  "rearranged. {:.0f} % of "
                  "the layers train, the others are predicted; {} repetitions, seed {}. A prediction as fast as the "
                  "best is correct. "
                  "The paper leaves the number of neighbours and the scaling open: the rows take k = {} and {} "
                  "dimensions, the tables "
                  "sweep both. Less time with the prediction: each layer takes its mean over the repetitions in which "
                  "it was predicted.",
                  100 * options.training_share, options.repetitions, context.seed, options.k, to_string(options.scale));
  if (context.study.large_npus.size() <= kCores) {
    figure.notes.emplace_back("The study has no NPU with two cores.");
    return figure;
  }
  const Setting setting = context.workloads.large(kCores);
  Row accuracy = published_row(context, "knn", "accuracy");
  Row ideal = published_row(context, "knn", "ideal");
  Row predicted = published_row(context, "knn", "predicted");
  for (const bool searched : {false, true}) {
    const Samples all = collect(context, setting, searched);
    if (context.planning) continue;
    SelectionOptions seeded;
    seeded.seed = context.seed;
    const SelectionResult result = evaluate_selection(all.samples, seeded);
    accuracy.ours[searched ? kOursSearched : kOursDescribed] = 100 * result.accuracy;
    ideal.ours[searched ? kOursSearched : kOursDescribed] = ideal_gain(all);
    predicted.ours[searched ? kOursSearched : kOursDescribed] = gain(all, result.expected_cycles);
    figure.tables.push_back(sweep(all, searched ? "searched plans" : "tiles of the paper", context.seed));
  }
  figure.rows = {std::move(accuracy), std::move(ideal), std::move(predicted)};
  return figure;
}

} // namespace gradweave::evaluation::igo
