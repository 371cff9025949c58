// Figure 13: DRAM accesses and time of the layers that the memory binds.
#include "app/evaluation/igo/figure_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace gradweave::evaluation::igo {
namespace {

constexpr std::size_t kLayersShown = 24;

struct LayerCost {
  std::string name; ///< as in the paper: network and number of the layer, from 1
  UnitResult baseline, rearranged;
};

/// The layers with dX whose traffic takes longer than their products, the longest first; of layers with the same shape
/// in a network the first one.
std::vector<LayerCost> memory_bound_layers(const Context &context, bool searched) {
  const Setting setting = context.workloads.large();
  const Costs costs = costs_of(context, setting, searched);
  std::vector<LayerCost> layers;
  for (const Workload &workload : context.workloads.at(setting)) {
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> shapes;
    for (const compiler::Layer &layer : workload.network.layers) {
      if (!layer.dx || !shapes.emplace(layer.m, layer.k, layer.n, layer.groups).second) continue;
      LayerCost cost{fmt::format("{}_{}", workload.name, layer.index + 1), costs.backward(layer, Technique::kBaseline),
                     costs.backward(layer, Technique::kRearrange)};
      if (!cost.baseline.problem.empty() || !cost.rearranged.problem.empty()) continue;
      const double bytes = static_cast<double>(cost.baseline.bytes());
      const double transfer =
          bytes * static_cast<double>(setting.npu.memory.bytes_den) / static_cast<double>(setting.npu.memory.bytes_num);
      if (transfer > static_cast<double>(cost.baseline.compute_bound)) layers.push_back(std::move(cost));
    }
  }
  std::sort(layers.begin(), layers.end(), [](const LayerCost &a, const LayerCost &b) {
    return std::tie(b.baseline.cycles, a.name) < std::tie(a.baseline.cycles, b.name);
  });
  if (layers.size() > kLayersShown) layers.resize(kLayersShown);
  return layers;
}

Chart layer_chart(const std::string &name, const std::string &title, const std::vector<LayerCost> &layers) {
  Chart chart{name, title, "over the baseline", {}, {{"DRAM accesses", {}}, {"time", {}}}, 1.0};
  const auto ratio = [](std::uint64_t a, std::uint64_t b) { return static_cast<double>(a) / static_cast<double>(b); };
  for (const LayerCost &layer : layers) {
    chart.groups.push_back(layer.name);
    chart.series[0].values.push_back(ratio(layer.rearranged.bytes(), layer.baseline.bytes()));
    chart.series[1].values.push_back(ratio(layer.rearranged.cycles, layer.baseline.cycles));
  }
  chart.groups.emplace_back("mean");
  for (Series &series : chart.series)
    series.values.push_back(mean(series.values));
  return chart;
}

} // namespace

Figure figure13(const Context &context) {
  Figure figure;
  figure.id = "13";
  figure.title = "Figure 13: DRAM accesses and time of 24 layers that the memory binds, large NPU";
  figure.method = "Backward pass of layers with dX whose traffic in the baseline takes longer than their "
                  "multiply-adds, the 24 longest "
                  "of all networks; layers of one shape in a network are shown once. Interleaving and rearrangement "
                  "over the baseline.";
  figure.charts.push_back(layer_chart("figure13-a",
                                      "Tiles of the paper, over the baseline as the paper describes it (a)",
                                      memory_bound_layers(context, false)));
  figure.charts.push_back(
      layer_chart("figure13-b", "Searched plans, over the searched baseline (b)", memory_bound_layers(context, true)));
  figure.notes.emplace_back("The paper gives this figure no averages.");
  return figure;
}

} // namespace gradweave::evaluation::igo
