// Figures 5.5 and 5.6: time by kind of layer, and samples a second by batch.
#include "app/evaluation/memory/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace gradweave::evaluation::memory {
namespace {

/// Kinds that take less of an iteration at every capacity are shown as one.
constexpr double kSmallShare = 0.01;

Chart breakdown(const Inputs &inputs, const MemoryNetwork &network, const SweepResult &result) {
  Chart chart{"figure5.5-" + network.name,
              fmt::format("{}: time of an iteration by kind of layer", network.name),
              "ms",
              {},
              {},
              {}};
  chart.stacked = true;
  std::set<std::string> shown;
  for (const SweepPoint &point : result.points)
    for (const auto &[layer, seconds] : point.layers)
      if (seconds > kSmallShare * point.seconds) shown.insert(layer);
  for (const std::string &layer : shown)
    chart.series.push_back({layer, {}});
  chart.series.push_back({"others", {}});
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    chart.groups.push_back(fmt::format("{} MiB", inputs.study.breakdown[i]));
    double others = 1e3 * result.points[i].seconds;
    std::size_t s = 0;
    for (const std::string &layer : shown) {
      const auto known = result.points[i].layers.find(layer);
      const double milliseconds = known == result.points[i].layers.end() ? 0 : 1e3 * known->second;
      chart.series[s++].values.push_back(milliseconds);
      others -= milliseconds;
    }
    chart.series[s].values.push_back(std::max(0.0, others));
  }
  return chart;
}

} // namespace

Figure figure55(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 5.5: time by kind of layer";
  figure.method = "Time of a step with what it waits, by operator, forwards and back.";
  Table table{"Share of point-wise layers (type II) in an iteration, %", {"network"}, {}};
  for (const std::uint32_t mebibytes : inputs.study.breakdown)
    table.columns.push_back(fmt::format("{} MiB", mebibytes));
  for (const MemoryNetwork &network : inputs.study.networks) {
    const SweepResult result =
        sweep(inputs.evaluations, inputs.spec(network, memory_model::Policy::kThesis, inputs.study.breakdown));
    figure.charts.push_back(breakdown(inputs, network, result));
    std::vector<std::string> cells{network.name};
    for (std::size_t i = 0; i < result.points.size(); ++i) {
      const double share = 100 * result.points[i].type_two;
      cells.push_back(fmt::format("{:.1f}", share));
      const std::string key = fmt::format("{}.type2.{}", network.name, inputs.study.breakdown[i]);
      if (find_published(inputs.study, "5.5", key) != nullptr) figure.rows.push_back(inputs.row("5.5", key, share));
    }
    table.rows.push_back(std::move(cells));
  }
  figure.tables.push_back(std::move(table));
  figure.notes = {
      "Beside the first of these the thesis quotes 26.05 % (26.04 in another place) that others measured for "
      "BatchNorm and activations of ResNet-50 on a GPU; the model says nothing about that machine."};
  return figure;
}

Figure figure56(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 5.6: samples a second by batch";
  figure.method =
      "The batch over the time of an iteration. The thesis's text has no number of this figure, and does not "
      "say which batches; observation 14 is among the observations.";
  const std::vector<std::uint32_t> sizes{inputs.study.small_capacity, inputs.study.large_capacity};
  for (const MemoryNetwork &network : inputs.study.networks) {
    Chart chart{"figure5.6-" + network.name,
                fmt::format("{}: samples a second by batch", network.name),
                "samples/s",
                {},
                {},
                {}};
    for (const std::uint32_t mebibytes : sizes)
      chart.series.push_back({fmt::format("{} MiB", mebibytes), {}});
    for (const std::uint32_t batch : inputs.study.batches) {
      chart.groups.push_back(fmt::format("batch {}", batch));
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        SweepSpec spec = inputs.spec(network, memory_model::Policy::kThesis, {sizes[i]});
        spec.subject.batch = batch;
        const SweepResult result = sweep(inputs.evaluations, spec);
        chart.series[i].values.push_back(result.problem.empty() ? batch / result.points[0].seconds : NAN);
      }
    }
    figure.charts.push_back(std::move(chart));
  }
  return figure;
}

} // namespace gradweave::evaluation::memory
