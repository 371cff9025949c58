// Figure 5.1: reuse frequency of layers, and what they could attain.
#include "app/evaluation/memory/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gradweave::evaluation::memory {
namespace {

Plot roofline(const Inputs &inputs, const MemoryNetwork &network, const NetworkFacts &f) {
  const double bandwidth = inputs.study.bandwidth, most = inputs.study.throughput * 1e3;
  Plot plot{"figure5.1-" + network.name,
            fmt::format("{}: what layers could attain, of type I (products) and type II (point-wise)", network.name),
            "operations a byte",
            "10^9 operations/s",
            true,
            {{"type I", {}, {}, false}, {"type II", {}, {}, false}}};
  for (const LayerKind &kind : f.kinds) {
    Plot::Points &points = plot.series[kind.product ? 0 : 1];
    points.x.push_back(kind.reuse_frequency);
    points.y.push_back(std::min(kind.reuse_frequency * bandwidth, most));
  }
  double lowest = most / bandwidth, highest = most / bandwidth;
  for (const Plot::Points &points : plot.series)
    for (const double x : points.x)
      if (x > 0) {
        lowest = std::min(lowest, x);
        highest = std::max(highest, x);
      }
  plot.series.push_back({"roof", {lowest, most / bandwidth, highest}, {lowest * bandwidth, most, most}});
  return plot;
}

} // namespace

Figure figure51(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 5.1: reuse frequency";
  figure.method =
      "Operations of a step over the bytes of its tensors (equation 3.4), forwards and back; a dot for "
      "each kind of layer and frequency. Layers that only move bytes, such as Concat, are left out of the numbers.";
  Table table{"Reuse frequency and sizes",
              {"network", "smallest", "largest", "factor", "kinds of type I below the ridge point", "type I"},
              {}};
  double least_factor = HUGE_VAL, most_factor = 0, hungriest = 0;
  for (const MemoryNetwork &network : inputs.study.networks) {
    const NetworkFacts f = facts(inputs.evaluations, inputs.subject(network));
    figure.plots.push_back(roofline(inputs, network, f));
    double lowest = HUGE_VAL, highest = 0;
    std::size_t below = 0, products = 0;
    for (const LayerKind &kind : f.kinds) {
      if (!kind.computes()) continue;
      lowest = std::min(lowest, kind.reuse_frequency);
      highest = std::max(highest, kind.reuse_frequency);
      if (!kind.product) hungriest = std::max(hungriest, 1e3 * inputs.study.throughput / kind.reuse_frequency);
      products += kind.product ? 1 : 0;
      below += kind.product && kind.reuse_frequency < 1e3 * inputs.study.throughput / inputs.study.bandwidth ? 1 : 0;
    }
    least_factor = std::min(least_factor, highest / lowest);
    most_factor = std::max(most_factor, highest / lowest);
    table.rows.push_back({network.name, fmt::format("{:.3g}", lowest), fmt::format("{:.0f}", highest),
                          fmt::format("{:.0f}", highest / lowest), std::to_string(below), std::to_string(products)});
    if (find_published(inputs.study, "5.1", network.name + ".smallest") == nullptr) continue;
    figure.rows.push_back(inputs.row("5.1", network.name + ".smallest", f.smallest_map / kMebi,
                                     "smallest result of a convolution; the thesis's 6 is the next larger stage"));
    figure.rows.push_back(inputs.row("5.1", network.name + ".largest", f.largest_map / kMebi));
  }
  figure.rows.push_back(inputs.row("5.1", "factor.least", least_factor));
  figure.rows.push_back(inputs.row("5.1", "factor.most", most_factor));
  figure.rows.push_back(inputs.row("5.1", "bandwidth", hungriest));
  figure.tables.push_back(std::move(table));
  return figure;
}

} // namespace gradweave::evaluation::memory
